import { toolLimits } from '#contract/tool.ts';
import type { AskedCall } from '#common/chat-message.ts';
import type { ChatPart } from '#server/engines/chat-engine.ts';

/** More calls than these are not kept; each of them would be refused. */
const most = 2 * toolLimits.calls;

/** The calls that a model asks for in one round, put together from their pieces. */
export class AskedCalls {
  #calls: { index: number; call: AskedCall }[] = [];

  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** False when it is too much. */
  take({ index, id, name, arguments: more }: ChatPart & { kind: 'call' }): boolean {
    const known = this.#calls.filter((each) => each.index === index).at(-1);
    // Some services give all calls the same index; another id begins another call.
    const goes = known && (id === '' || id === known.call.id || name === '');
    if (!goes) {
      if (this.#calls.length >= most) return false;
      const call = { id: id || `call_${index}_${this.#calls.length}`, name, arguments: more };
      this.#calls.push({ index, call });
      return more.length <= toolLimits.arguments;
    }
    known.call.arguments += more;
    return known.call.arguments.length <= toolLimits.arguments;
  }

  list(): AskedCall[] {
    return this.#calls.map(({ call }) => ({ ...call }));
  }

  /** What the model wrote for them. */
  text(): string {
    return this.#calls.map(({ call }) => call.name + call.arguments).join('');
  }
}
