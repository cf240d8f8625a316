import { randomBytes } from 'node:crypto';
import { toolLimits } from '#contract/tool.ts';
import type { AskedCall } from '#common/chat-message.ts';
import type { ChatPart } from '#server/engines/chat-engine.ts';

/** More calls than these are not kept; each of them would be refused. */
const most = 2 * toolLimits.calls;
/** Of what a service signs its calls with in one round, characters. */
const mostSigned = 200_000;

const isWhole = (words: string): boolean => {
  if (!words.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(words);
    return true;
  } catch {
    return false;
  }
};

/** The calls that a model asks for in one round, put together from their pieces. */
export class AskedCalls {
  #calls: { index: number; call: AskedCall }[] = [];
  #signed = 0;

  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** False when it is too much. */
  take(part: ChatPart & { kind: 'call' }): boolean {
    const { index, id, name, arguments: more } = part;
    const known = this.#calls.filter((each) => each.index === index).at(-1)?.call;
    // A call that is said once more when it is whole is the same call.
    if (known && id !== '' && id === known.id && more === known.arguments && isWhole(more))
      return true;
    const call = known && !this.#begins(part, known) ? known : null;
    if (call) call.arguments += more;
    else if (this.#calls.length >= most) return false;
    const taken = call ?? { id: this.#idOf(id), name, arguments: more };
    if (!call) this.#calls.push({ index, call: taken });
    if (part.signed) {
      this.#signed += JSON.stringify(part.signed).length;
      if (this.#signed > mostSigned) return false;
      taken.signed = part.signed;
    }
    return taken.arguments.length <= toolLimits.arguments;
  }

  /**
   * Some services give all calls the same index, or no index and no id: another id begins another
   * call, and so does a name with arguments after a call whose own are whole.
   */
  #begins({ id, name, arguments: more }: ChatPart & { kind: 'call' }, known: AskedCall): boolean {
    if (name === '') return false;
    return (id !== '' && id !== known.id) || (more.trim() !== '' && isWhole(known.arguments));
  }

  /** No two of a loop have the same: services tell by it what a result answers. */
  #idOf(id: string): string {
    const taken = id === '' || this.#calls.some(({ call }) => call.id === id);
    return taken ? `call_${randomBytes(9).toString('hex')}` : id;
  }

  list(): AskedCall[] {
    return this.#calls.map(({ call }) => ({ ...call }));
  }

  /** What the model wrote for them. */
  text(): string {
    return this.#calls.map(({ call }) => call.name + call.arguments).join('');
  }
}
