/** What is wrong with a field, beside it. */
export const FieldAlert = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <small className="field-alert" role="alert">
      {text}
    </small>
  );
