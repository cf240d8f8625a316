import type { EmbeddingEngine } from './embedding-engine.ts';

/** Questions, each with another one in other words that asks the same. */
const pairs = [
  ['怎样修改密码', '登录口令想换一个，去哪里设置'],
  ['附近有什么餐馆', '哪里可以吃饭'],
  ['明天会下雨吗', '看一下天气预报'],
  ['发票多久能开出来', '报销要的票据几天寄到'],
  ['孩子发烧了该怎么办', '小朋友体温很高，要不要去医院'],
] as const;
/** So many have to find their own; by chance it is one. */
const enough = 4;

const numbersOf = (vector: Buffer): Float32Array => new Float32Array(new Uint8Array(vector).buffer);

const likeness = (a: Float32Array, b: Float32Array): number => {
  let dot = 0;
  let ofA = 0;
  let ofB = 0;
  for (const [at, value] of a.entries()) {
    const other = b[at] ?? 0;
    dot += value * other;
    ofA += value * value;
    ofB += other * other;
  }
  return dot / Math.sqrt(ofA * ofB || 1);
};

/**
 * Whether a model tells Chinese sentences apart by what they mean. One that does not finds less in a
 * Chinese knowledge base than words alone do. @throws EmbeddingError
 */
export const knowsChinese = async (
  engine: Pick<EmbeddingEngine, 'embed'>,
  signal: AbortSignal,
): Promise<boolean> => {
  const { vectors } = await engine.embed(
    [...pairs.map(([a]) => a), ...pairs.map(([, b]) => b)],
    signal,
  );
  const all = vectors.map(numbersOf);
  const [asked, meant] = [all.slice(0, pairs.length), all.slice(pairs.length)];
  const found = asked.filter((one, at) => {
    const near = meant.map((other) => likeness(one, other));
    return near.every((value, place) => place === at || value < (near[at] ?? -1));
  });
  return found.length >= enough;
};
