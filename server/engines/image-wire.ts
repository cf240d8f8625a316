import { ImageEngineError } from './image-engine.ts';
import { createWire } from './service-wire.ts';

export { jsonOf, mostBytes, type Patience, workPatience } from './service-wire.ts';

/** How services of images are asked. */
export const { ask, slowService, senselessReply, unsuitable, refusedBy } = createWire(
  '画图服务',
  ImageEngineError,
);
