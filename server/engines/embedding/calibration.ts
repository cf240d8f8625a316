import type { EmbeddingEngine } from './embedding-engine.ts';

/**
 * Questions, each with a text that answers it in other words, in Chinese and in English. Each answers
 * its own question alone.
 */
export const pairs: Record<Language, readonly (readonly [question: string, text: string])[]> = {
  chinese: [
    ['怎样修改登录密码', '想换一个口令，请打开账户页，在安全一栏里重新设置，旧的随即失效。'],
    ['附近哪里可以吃饭', '楼下有两家餐馆，左边的卖面条，右边的做川菜，晚上九点打烊。'],
    ['明天会下雨吗', '天气预报说，周三午后有雷阵雨，出门请带伞。'],
    ['发票多久能开出来', '报销用的票据，在付款后五个工作日之内寄出。'],
    ['孩子发烧了怎么办', '小朋友体温超过三十八度五时，多喝水，尽快去医院看儿科。'],
    ['买的东西想退掉', '收到货七天之内可以申请退款，钱按原路返回。'],
    ['怎么把照片备份到电脑上', '用数据线连接手机，把相册文件夹复制到硬盘里。'],
    ['这份工作一年有几天假', '员工入职满一年后享有十天带薪休息，工龄每增一年加一天。'],
  ],
  other: [
    [
      'how do I change my password',
      'To pick a new passcode, open the account page and reset it under Security; the old one stops working at once.',
    ],
    [
      'where can I get dinner nearby',
      'There are two restaurants downstairs: noodles on the left, Sichuan dishes on the right, both closing at nine.',
    ],
    [
      'will it rain tomorrow',
      'The forecast shows thunderstorms on Wednesday afternoon, so carry an umbrella.',
    ],
    [
      'how long does an invoice take',
      'The receipt for your expenses is sent within five working days of the payment.',
    ],
    [
      'my child has a fever, what should I do',
      "When a kid's temperature rises above 38.5 degrees, give plenty of water and see a doctor soon.",
    ],
    [
      'I want to return what I bought',
      'Within seven days of delivery you may ask for a refund, paid back the way it came.',
    ],
    [
      'how to back up photos to my computer',
      'Connect the phone by cable and copy the album folder to the hard disk.',
    ],
    [
      'how many days off does the job give',
      'After the first year staff receive ten paid days of leave, plus one for each further year.',
    ],
  ],
};
/** So many questions have to find their own text, as texts do their own question; by chance it is one. */
const enough = 6;
/**
 * How many spreads of unlike texts lie between them and alike ones where a model tells little, and
 * where it tells so well that words add little to it.
 */
const telling = { little: 3, well: 4.5 };
/** Texts of one request: some services take no more than ten. */
const together = 8;

type Language = 'chinese' | 'other';

/** The language that most of a text is in, by what calibration tells apart. */
export const languageOf = (text: string): Language => {
  const chinese = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const words = text.match(/[^\P{L}\p{Script=Han}]+/gu)?.length ?? 0;
  return chinese > words ? 'chinese' : 'other';
};

/** What a cosine says, of a question in one language and a text in one. */
export interface Scale {
  /** Whether the model finds by meaning between the two. */
  knows: boolean;
  /** How well it tells what answers a question from all else, 0 to 1. */
  trust: number;
  /** The cosine of a question to what has nothing to do with it, and to what answers it. */
  unlike: number;
  alike: number;
}
/** By the question's language, then the text's. */
export type Calibration = Record<Language, Record<Language, Scale>>;

const numbersOf = (vector: Buffer): Float32Array => new Float32Array(new Uint8Array(vector).buffer);

const cosine = (a: Float32Array, b: Float32Array): number => {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (const [at, value] of a.entries()) {
    const other = b[at] ?? 0;
    dot += value * other;
    ofA += value * value;
    ofB += other * other;
  }
  return dot / Math.sqrt(ofA * ofB || 1);
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / (values.length || 1);

const scaleOf = (questions: readonly Float32Array[], texts: readonly Float32Array[]): Scale => {
  const near = questions.map((question) => texts.map((text) => cosine(question, text)));
  const own = near.map((row, at) => row[at] ?? 0);
  const found = own.filter((value, at) => near[at]!.every((each, to) => to === at || each < value));
  const finding = own.filter((value, at) => near.every((row, of) => of === at || row[at]! < value));
  const others = near.flatMap((row, at) => row.filter((_, to) => to !== at));
  const [unlike, alike] = [mean(others), mean(own)];
  const spread = Math.sqrt(mean(others.map((value) => (value - unlike) ** 2)));
  const apart =
    ((alike - unlike) / (spread || 1) - telling.little) / (telling.well - telling.little);
  return {
    knows: found.length >= enough && finding.length >= enough,
    trust: Math.max(0, Math.min(1, apart)),
    unlike,
    alike,
  };
};

/**
 * What the cosines of a model mean, by languages. They say nothing by themselves: of one model .45
 * is the same matter, of another nothing comes below .7, and one that does not know a language finds
 * less in it than words alone do. @throws EmbeddingError
 */
export const calibrate = async (
  { embed }: Pick<EmbeddingEngine, 'embed'>,
  signal: AbortSignal,
): Promise<Calibration> => {
  const embedAll = async (texts: readonly string[], question: boolean) => {
    const made: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += together) {
      const { vectors } = await embed(texts.slice(at, at + together), signal, question);
      made.push(...vectors.map(numbersOf));
    }
    return made;
  };
  const vectorsOf = async (language: Language) => ({
    questions: await embedAll(
      pairs[language].map(([question]) => question),
      true,
    ),
    texts: await embedAll(
      pairs[language].map(([, text]) => text),
      false,
    ),
  });
  const of = { chinese: await vectorsOf('chinese'), other: await vectorsOf('other') };
  const row = (language: Language): Record<Language, Scale> => ({
    chinese: scaleOf(of[language].questions, of.chinese.texts),
    other: scaleOf(of[language].questions, of.other.texts),
  });
  return { chinese: row('chinese'), other: row('other') };
};

/** How far a model is trusted with a question; null: it does not know its language. */
export const trustIn = (calibration: Calibration, question: string): number | null => {
  const known = Object.values(calibration[languageOf(question)]).filter(({ knows }) => knows);
  return known.length === 0 ? null : Math.max(...known.map(({ trust }) => trust));
};

/** A cosine as a likeness: 0 of what has nothing to do with a question, 1 of what answers it. */
export const likenessOf = ({ unlike, alike }: Scale, value: number): number =>
  Math.max(0, (value - unlike) / Math.max(alike - unlike, 0.02));
