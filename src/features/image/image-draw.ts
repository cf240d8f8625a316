import { sessionTypes } from '#contract/kinds.ts';
import { api } from '#src/platform/api.ts';
import { uuid } from '#src/platform/uuid.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import { beginWork, sendWork } from '#src/widgets/conversation/work.ts';
import type { Asked } from './image-request.ts';

/** Begins the images of a message that is with the server. */
export const generate = (thread: Thread, id: number, asked: Asked): Promise<void> => {
  const { n, size, translate } = asked.image;
  return beginWork(thread, id, (request_id) =>
    api.generateImage(
      { history_id: id, request_id, n, size, translate },
      { quiet: true, idempotencyKey: request_id },
    ),
  );
};

/** Sends a request and begins its images. */
export const draw = (thread: Thread, asked: Asked): Promise<void> => {
  const { n, size, translate } = asked.image;
  return sendWork(thread, {
    human: JSON.stringify(asked),
    type: sessionTypes.image,
    draw: { n, size, translate, request_id: uuid() },
    begin: (id) => generate(thread, id, asked),
  });
};
