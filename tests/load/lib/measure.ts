import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { fileURLToPath } from 'node:url';

/** Numbers after `--name=` on the command line. */
export const numbersOf = (name: string, fallback: readonly number[]): number[] => {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  return given
    ? given
        .slice(name.length + 3)
        .split(',')
        .map(Number)
    : [...fallback];
};

export const now = (): number => performance.timeOrigin + performance.now();

export const quantile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
};
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** CPU time used so far by a process and, with `tree`, by all below it, ms. */
export const cpuTime = (pid: number, { tree = false } = {}): number => {
  const statOf = (id: number): { parent: number; ms: number } | null => {
    try {
      const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return { parent: Number(fields[1]), ms: (Number(fields[11]) + Number(fields[12])) * 10 };
    } catch {
      return null;
    }
  };
  if (!tree) return statOf(pid)?.ms ?? 0;
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const stat = statOf(Number(name));
        return stat ? [[Number(name), stat] as const] : [];
      }),
  );
  const isBelow = (id: number): boolean => {
    for (let at: number | undefined = id; at; at = all.get(at)?.parent) if (at === pid) return true;
    return false;
  };
  let sum = 0;
  for (const [id, { ms }] of all) if (isBelow(id)) sum += ms;
  return sum;
};

/** Resident memory of a process, MB. */
export const memory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

export interface Helper {
  baseURL: string;
  pid: number;
  stop: () => void;
}

/** Starts a script of this folder that prints its port. */
export const startHelper = async (script: string, ...given: string[]): Promise<Helper> => {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', file, ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim()));
    child.once('exit', () => reject(new Error(`${script} ended`)));
  });
  return {
    baseURL: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: () => void child.kill(),
  };
};

export const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });

export interface StreamResult {
  /** Delay of each chunk from the service's writing to here, ms. */
  delays: number[];
  /** The same, but for what was written before the stream was open: from its opening, ms. */
  openDelays: number[];
  /** Numbers of chunks that came in their order. */
  chunks: number;
  firstAt: number;
  /** The stream came to its end. */
  done: boolean;
}

const stamp = /(\d+)@([\d.]+);/g;

/** Opens a stream of server-sent events and reads the stamped chunks in it. */
export const readStamped = (
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<StreamResult> =>
  new Promise((resolve, reject) => {
    const result: StreamResult = {
      delays: [],
      openDelays: [],
      chunks: 0,
      firstAt: 0,
      done: false,
    };
    const request = http.request(
      url,
      { agent, method: options.method ?? 'GET', headers: options.headers },
      (response) => {
        if (response.statusCode !== 200) {
          response.resume();
          reject(new Error(`${url.split('?', 1)[0]}: ${response.statusCode}`));
          return;
        }
        const openedAt = now();
        let rest = '';
        response.setEncoding('latin1');
        response.on('data', (piece: string) => {
          const at = now();
          rest += piece;
          const cut = rest.lastIndexOf('\n\n');
          if (cut < 0) return;
          const whole = rest.slice(0, cut);
          rest = rest.slice(cut + 2);
          for (const match of whole.matchAll(stamp)) {
            if (result.chunks === 0) result.firstAt = at;
            if (Number(match[1]) === result.chunks) result.chunks += 1;
            const writtenAt = Number(match[2]);
            result.delays.push(at - writtenAt);
            result.openDelays.push(at - Math.max(writtenAt, openedAt));
          }
          if (whole.includes('data: [DONE]')) result.done = true;
        });
        response.on('end', () => resolve(result));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(options.body);
  });

/** Asks a model's service, or what relays it, without anything of ours. */
export const askService = (baseURL: string, question: string): Promise<StreamResult> =>
  readStamped(`${baseURL}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'load',
      stream: true,
      messages: [{ role: 'user', content: question }],
    }),
  });

export const postJson = (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ code: number; message: string; data: Record<string, unknown> }> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const request = http.request(
      url,
      {
        agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...headers,
        },
      },
      (response) => {
        let answer = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (answer += piece));
        response.on('end', () => {
          try {
            resolve(JSON.parse(answer));
          } catch {
            // A load balancer's own page.
            reject(new Error(`${response.statusCode}`));
          }
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(text);
  });

export interface Row {
  measure: string;
  value: number;
  goal: number;
  unit: string;
}

/** Prints measures beside their goals; a ratio of 1 or less is good. */
export const printTable = (rows: readonly Row[]): void => {
  console.table(
    Object.fromEntries(
      rows.map(({ measure, value, goal, unit }) => [
        measure,
        {
          value: `${value.toFixed(2)} ${unit}`,
          goal: `≤ ${goal.toFixed(2)} ${unit}`,
          ratio: goal === 0 ? (value === 0 ? 0 : Infinity) : Number((value / goal).toFixed(2)),
        },
      ]),
    ),
  );
};
