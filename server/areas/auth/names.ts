import { limits } from '#contract/limits.ts';

/** The one form of an account by which it is kept and found, whatever its case and width. */
export const normalAccount = (account: string): string =>
  account.normalize('NFKC').trim().toLowerCase();

/** What shows nothing although it is a letter, a mark or a symbol; what picks an emoji's look may stay. */
const invisible =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800]|(?![\uFE0E\uFE0F])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})[\uFE0E\uFE0F]/gu;

/** Emoji of several that a joiner makes one, such as a family: no other joiner may stay. */
const joined = new RegExp(String.raw`(\p{RGI_Emoji_ZWJ_Sequence})`, 'v');

export const normalName = (name: string): string =>
  name
    .normalize('NFC')
    .split(joined)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(invisible, '')))
    .join('')
    .trim();

const accountPattern = /^[\p{Script=Han}a-z0-9_.@-]+$/u;

/** Names that the service speaks by, or that people take for it. */
const reserved = new Set(
  `admin administrator root system sysadmin superuser webmaster support service official moderator
  staff security queqiao null undefined 客服 官方 系统 站长 版主 鹊桥`.split(/\s+/),
);
const reservedParts =
  /管理员|系统通知|系统消息|系统讯息|内置助手|内置画板|官方客服|鹊桥官方|鹊桥客服/;

/** Letters of other scripts that look like Latin ones, and digits that stand for letters. */
const lookalikes = new Map(
  `аa вb сc ԁd еe ёe һh іi їi јj кk ӏl мm нh оo рp ѕs тt иu уy хx ѵv ԝw ԛq пn гr ɡg ıi
   αa βb εe ηn ιi κk μu νv οo ρp τt υu χx γy ωw σo օo ոn սu հh 0o 1i li 3e 5s
   ɑa ᴀa ʙb ᴄc ᴅd đd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟi łi ᴍm ɴn ᴏo øo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz
   ꓮa ꓐb ꓚc ꓓd ꓰe ꓝf ꓖg ꓧh ꓲi ꓙj ꓗk ꓡi ꓟm ꓠn ꓳo ꓑp ꓣr ꓢs ꓔt ꓴu ꓦv ꓪw ꓫx ꓬy ꓜz
   ꭺa ꮯc ꭰd ꭼe ꮋh ꭵi ꭻj ꮶk ꮇm ꮲp ꮢr ꮪs ꭲt ꮩv ꮃw ꮓz`
    .split(/\s+/)
    .map((pair) => Array.from(pair) as [string, string]),
);
/** Where the Latin letters begin that stand in circles, boxes and flags. */
const framed = [0x1f150, 0x1f170, 0x1f1e6];
for (const from of framed)
  for (let at = 0; at < 26; at += 1) {
    const letter = String.fromCharCode(97 + at);
    lookalikes.set(String.fromCodePoint(from + at), lookalikes.get(letter) ?? letter);
  }
/** Traditional forms of the characters in the names above, and others that are taken for them. */
const simplified = new Map(
  '員员 統统 內内 畫画 鵲鹊 橋桥 長长 訊讯 權权 菅管 埋理 宫官 宮官'
    .split(' ')
    .map((pair) => Array.from(pair) as [string, string]),
);

/** What a name looks like, so that two that can be taken for each other are equal. */
const skeletonOf = (name: string): string =>
  Array.from(
    name.normalize('NFKD').toLowerCase(),
    (letter) => lookalikes.get(letter) ?? simplified.get(letter) ?? letter,
  )
    .join('')
    .replace(/[\p{P}\p{S}\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');

const reservedLooks = new Set(Array.from(reserved, skeletonOf));

/** Whether a name could pass for the service itself, however it is written. */
const isReserved = (name: string): boolean => {
  const skeleton = skeletonOf(name);
  return reservedLooks.has(skeleton) || reservedParts.test(skeleton);
};

/** What is wrong with a new account's normal form, in Chinese; null: nothing. */
export const accountFault = (account: string): string | null => {
  const { min, max } = limits.account;
  const length = Array.from(account).length;
  if (length < min || length > max) return `用户名需要 ${min} 到 ${max} 个字符`;
  if (!accountPattern.test(account)) return '用户名只能用汉字、字母、数字和 _ . @ -';
  if (isReserved(account)) return '这个用户名是保留的，请换一个';
  return null;
};

export const nameFault = (name: string): string | null => {
  if (Array.from(name).length > limits.name.max) return `名称最多 ${limits.name.max} 个字符`;
  return isReserved(name) ? '这个名称是保留的，请换一个' : null;
};
