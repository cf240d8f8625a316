import { Button } from './button.tsx';
import { DialogFrame } from './dialog-frame.tsx';
import type { DialogRequest } from './dialog.ts';

const DialogView = ({ request }: { request: DialogRequest }) => {
  const stepBack = () => request.answer(false);
  return (
    <DialogFrame
      title={request.title}
      text={request.text}
      onStepBack={stepBack}
      onSubmit={() => request.answer(true)}
    >
      <footer>
        {request.cancel !== undefined && <Button onClick={stepBack}>{request.cancel}</Button>}
        <Button kind={request.danger ? 'danger' : 'primary'} type="submit">
          {request.ok}
        </Button>
      </footer>
    </DialogFrame>
  );
};

export default DialogView;
