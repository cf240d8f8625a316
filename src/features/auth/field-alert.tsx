import css from './auth.module.css';
/** What is wrong with a field, beside it. */
export const FieldAlert = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <small className={css.fieldAlert} role="alert">
      {text}
    </small>
  );
