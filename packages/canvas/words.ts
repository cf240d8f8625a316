import { hashText } from './chance.ts';

/**
 * What the words of a prompt ask for. Nothing of a prompt goes further than this: a drawing is made
 * from these names and a number, never from the text itself.
 */

export const subjects = [
  'mountain',
  'volcano',
  'sea',
  'lake',
  'river',
  'waterfall',
  'beach',
  'island',
  'moon',
  'sun',
  'stars',
  'aurora',
  'rainbow',
  'cloud',
  'fog',
  'snow',
  'rain',
  'lightning',
  'fireworks',
  'fire',
  'tree',
  'forest',
  'pine',
  'willow',
  'bamboo',
  'palm',
  'grass',
  'flower',
  'blossom',
  'lotus',
  'sunflower',
  'lavender',
  'leaf',
  'desert',
  'city',
  'street',
  'house',
  'pagoda',
  'castle',
  'bridge',
  'magpie-bridge',
  'lighthouse',
  'boat',
  'train',
  'lantern',
  'bird',
  'crane',
  'butterfly',
  'fish',
  'cat',
  'dog',
  'horse',
  'deer',
  'portrait',
  'people',
  'couple',
  'balloon',
  'planet',
  'window',
  'cup',
] as const;
export type Subject = (typeof subjects)[number];

export const styles = [
  'ink',
  'oil',
  'watercolour',
  'pixel',
  'flat',
  'sketch',
  'neon',
  'anime',
  'print',
] as const;
export type Style = (typeof styles)[number];

export type Hour = 'dawn' | 'day' | 'dusk' | 'night';
export type Season = 'spring' | 'summer' | 'autumn' | 'winter';
export type Layout = 'centre' | 'thirds' | 'close' | 'wide' | 'symmetric';

export const colourNames = [
  'red',
  'orange',
  'yellow',
  'green',
  'cyan',
  'blue',
  'purple',
  'pink',
  'brown',
  'black',
  'white',
  'grey',
  'gold',
] as const;
export type ColourName = (typeof colourNames)[number];

export type Mood = 'warm' | 'cool' | 'dark' | 'bright' | 'soft' | 'overcast' | 'vivid' | 'calm';

type Sign =
  | `subject:${Subject}`
  | `style:${Style}`
  | `hour:${Hour}`
  | `season:${Season}`
  | `layout:${Layout}`
  | `colour:${ColourName}`
  | `mood:${Mood}`;

export interface Wish {
  /** In the order of the words, each once. */
  subjects: Subject[];
  style: Style | null;
  hour: Hour | null;
  season: Season | null;
  layout: Layout | null;
  colours: ColourName[];
  moods: Mood[];
  /** Of the words in them that mean something, so that any other word changes the image, too. */
  hash: number;
}

/** Words by what they ask for; a word that asks for nothing keeps a part of it from being read. */
const lexicon: readonly [signs: readonly Sign[], chinese: string, english: string][] = [
  [
    ['subject:mountain'],
    '山 山峰 群山 山脉 峰 岭 峦 峡谷 悬崖 山谷 高原 丘陵 岩石 石头',
    'mountain peak hill cliff canyon valley alp ridge highland rock himalaya',
  ],
  [
    ['subject:mountain', 'subject:snow'],
    '雪山 雪峰 冰川 珠峰 富士山',
    'glacier|snow mountain|snowy mountain|mount fuji',
  ],
  [['subject:mountain', 'subject:river', 'style:ink'], '山水画', 'shan shui|shanshui'],
  [['subject:mountain', 'subject:river'], '山水', ''],
  [['subject:volcano'], '火山 岩浆 熔岩', 'volcano lava magma'],
  [
    ['subject:sea'],
    '海 大海 海洋 海面 海浪 浪花 波涛 波浪 浪 潮 海水',
    'sea ocean wave tide surf seascape',
  ],
  [['subject:beach'], '海滩 沙滩 海边 海岸 岸边', 'beach coast shore seaside seashore'],
  [['subject:island'], '岛 海岛 小岛 岛屿', 'island isle islet'],
  [['subject:lake'], '湖 湖泊 湖面 西湖 池塘 水面 倒影 水', 'lake pond reflection water'],
  [
    ['subject:river'],
    '河 江 溪 小溪 河流 江南 溪流 江水 漓江 长江 黄河',
    'river stream creek brook',
  ],
  [['subject:waterfall'], '瀑布 飞瀑', 'waterfall cascade'],
  [['subject:moon', 'hour:night'], '月 月亮 明月 月光 月色 圆月 满月 月下', 'moon moonlight'],
  [['subject:sun'], '太阳 阳光 日光 烈日 骄阳', 'sun sunshine sunlight'],
  [['subject:sun', 'hour:dusk'], '日落 夕阳 落日 残阳 斜阳', 'sunset'],
  [['subject:sun', 'hour:dawn'], '日出 朝阳 旭日', 'sunrise'],
  [
    ['subject:stars', 'hour:night'],
    '星空 星星 银河 繁星 星 星河 流星 宇宙 银河系 星辰 星云',
    'star starry galaxy milky universe cosmos nebula meteor',
  ],
  [['subject:aurora', 'hour:night'], '极光', 'aurora|northern light'],
  [['subject:rainbow'], '彩虹', 'rainbow'],
  [['subject:cloud'], '云 云朵 白云 云彩 天空 蓝天 云端', 'cloud sky'],
  [['subject:cloud', 'subject:fog', 'subject:mountain'], '云海', '|sea of clouds'],
  [['subject:fog'], '雾 云雾 薄雾 雾气 烟雨 迷雾 雾霭', 'fog mist misty foggy haze'],
  [
    ['subject:snow', 'season:winter'],
    '雪 下雪 雪景 雪花 大雪 飘雪 雪地 冰雪 冰',
    'snow snowy snowfall snowflake blizzard ice',
  ],
  [
    ['subject:rain', 'mood:overcast'],
    '雨 下雨 雨天 大雨 细雨 暴雨 雨夜 雨滴 烟雨',
    'rain rainy raindrop drizzle downpour',
  ],
  [
    ['subject:rain', 'subject:lightning', 'mood:overcast'],
    '雷雨 暴风雨 风暴',
    'storm thunderstorm tempest',
  ],
  [['subject:lightning', 'mood:overcast'], '闪电 雷电', 'lightning thunder'],
  [['subject:fireworks', 'hour:night'], '烟花 焰火 烟火 花火', 'firework'],
  [
    ['subject:fire'],
    '火 火焰 篝火 烈火 火堆 营火 燃烧 火炬',
    'fire flame campfire bonfire burning blaze',
  ],
  [['subject:tree'], '树 大树 古树 树木 枯树 树枝 榕树 银杏 梧桐', 'tree oak ginkgo'],
  [
    ['subject:forest'],
    '森林 树林 丛林 林 雨林 林间 密林 白桦林',
    'forest wood woodland jungle rainforest grove',
  ],
  [['subject:pine'], '松 松树 松林 针叶林 杉', 'pine fir spruce conifer'],
  [['subject:willow'], '柳 柳树 杨柳 垂柳', 'willow'],
  [['subject:bamboo'], '竹 竹子 竹林 翠竹 竹叶 墨竹', 'bamboo'],
  [['subject:palm'], '椰 椰树 椰子树 棕榈 椰林', 'palm coconut'],
  [
    ['subject:grass'],
    '草 草原 草地 草坪 田野 原野 麦田 稻田 麦浪 牧场 梯田 田园',
    'grass grassland meadow prairie field pasture lawn',
  ],
  [
    ['subject:flower'],
    '花 鲜花 花朵 花海 花园 花丛 野花 玫瑰 牡丹 郁金香 菊花 百合 月季 茶花 山茶 山茶花 绣球 花卉 兰花 水仙',
    'flower rose tulip peony lily bloom floral garden daisy poppy bouquet orchid camellia',
  ],
  [
    ['subject:blossom', 'season:spring'],
    '樱花 桃花 杏花 梨花 海棠 海棠花 桃林',
    'blossom sakura cherry',
  ],
  [['subject:blossom'], '梅 梅花 红梅 腊梅', 'plum'],
  [['subject:lotus'], '荷 荷花 莲 莲花 荷塘 荷叶 睡莲 荷池 莲叶', 'lotus waterlily|water lily'],
  [['subject:sunflower'], '向日葵 葵花', 'sunflower'],
  [['subject:lavender'], '薰衣草 紫罗兰', 'lavender violet'],
  [['subject:leaf', 'season:autumn'], '枫 枫叶 红叶 落叶 枫林', 'maple foliage'],
  [['subject:leaf'], '叶 叶子 绿叶 树叶', 'leaf leaves'],
  [['subject:desert'], '沙漠 沙丘 大漠 戈壁', 'desert dune sahara'],
  [
    ['subject:city'],
    '城市 都市 高楼 摩天楼 大厦 天际线 城 上海 东京 纽约 香港 建筑 高楼大厦',
    'city skyline skyscraper urban downtown cityscape metropolis tokyo shanghai building architecture',
  ],
  [['subject:city', 'hour:night'], '城市夜景 夜景 灯火 霓虹', ''],
  [
    ['subject:street', 'subject:city'],
    '街 街道 街头 小巷 巷子 马路 街景',
    'street alley road lane',
  ],
  [
    ['subject:house'],
    '房子 房屋 小屋 木屋 屋 家 村庄 村 村落 小镇 乡村 农舍 茅屋 人家 民居',
    'house cottage cabin hut village home town farmhouse barn',
  ],
  [
    ['subject:pagoda'],
    '塔 宝塔 古塔 寺 寺庙 庙 亭 亭子 楼阁 宫殿 古建筑 阁 故宫 古城 古镇 古风',
    'pagoda temple pavilion shrine palace',
  ],
  [['subject:castle'], '城堡 古堡', 'castle fortress'],
  [['subject:bridge'], '桥 小桥 石桥 拱桥 断桥 大桥', 'bridge'],
  [
    ['subject:magpie-bridge', 'subject:stars', 'hour:night'],
    '鹊桥 七夕 牛郎 织女',
    '|magpie bridge|bridge of magpies',
  ],
  [['subject:lighthouse'], '灯塔', 'lighthouse'],
  [
    ['subject:boat'],
    '船 小船 舟 扁舟 帆船 渔船 帆 轮船 孤舟 渔舟 游船',
    'boat ship sail sailboat canoe junk vessel yacht',
  ],
  [['subject:train'], '火车 列车 高铁 铁路 铁轨', 'train railway locomotive'],
  [['subject:lantern'], '灯笼 孔明灯 天灯 花灯 宫灯 灯', 'lantern lamp'],
  [
    ['subject:bird'],
    '鸟 飞鸟 小鸟 鸟儿 燕 燕子 大雁 雁 海鸥 鸥 鹰 乌鸦 麻雀',
    'bird swallow seagull gull goose eagle crow raven sparrow',
  ],
  [['subject:bird'], '喜鹊 鹊', 'magpie'],
  [['subject:crane'], '鹤 仙鹤 白鹤 白鹭 鹭 天鹅', 'crane egret heron swan'],
  [['subject:butterfly'], '蝴蝶 蝶 彩蝶', 'butterfly butterflies moth'],
  [['subject:fish'], '鱼 金鱼 锦鲤 鲤鱼 游鱼 鲸 鲸鱼', 'fish koi goldfish carp whale'],
  [['subject:cat'], '猫 小猫 猫咪 黑猫 橘猫 白猫', 'cat kitten kitty'],
  [['subject:dog'], '狗 小狗 犬 狗狗 柴犬 柯基', 'dog puppy corgi shiba husky'],
  [['subject:horse'], '马 骏马 白马 奔马 骑马 独角兽', 'horse pony unicorn'],
  [['subject:deer'], '鹿 小鹿 麋鹿 驯鹿', 'deer stag reindeer elk'],
  [
    ['subject:portrait'],
    '人像 肖像 头像 美女 美人 女孩 少女 女子 姑娘 男孩 少年 男子 女人 男人 人脸 侧脸 脸 老人 仙女 公主 模特 帅哥 小姐姐',
    'portrait girl woman man boy face lady headshot princess beauty model',
  ],
  [
    ['subject:people'],
    '人 行人 旅人 人物 背影 侠客 诗人 渔翁 孩子 小孩 老翁 剑客',
    'person people figure traveler traveller hiker wanderer child children silhouette',
  ],
  [['subject:people', 'subject:couple'], '情侣 恋人 爱人 夫妻 两个人', 'couple lover|two people'],
  [['subject:balloon'], '热气球 气球', 'balloon'],
  [
    ['subject:planet', 'subject:stars', 'hour:night'],
    '星球 行星 太空 宇航员 外星 土星 地球',
    'planet space saturn astronaut alien earth',
  ],
  [['subject:window'], '窗 窗户 窗外 窗前 窗边', 'window'],
  [['subject:cup'], '茶 咖啡 茶杯 杯子 茶壶', 'tea coffee cup mug teapot'],

  [
    ['style:ink'],
    '水墨 水墨画 国画 中国画 写意 泼墨 墨 中国风 工笔',
    'ink inkwash sumi sumi-e|ink wash|ink painting|chinese painting',
  ],
  [
    ['style:oil'],
    '油画 印象派 梵高 莫奈 厚涂',
    'oil impressionist impressionism impasto monet gogh|oil painting|van gogh',
  ],
  [['style:watercolour'], '水彩 水彩画 淡彩', 'watercolor watercolour aquarelle'],
  [
    ['style:pixel'],
    '像素 像素画 像素风 像素艺术',
    'pixel pixelated pixelart 8-bit 8bit 16-bit|pixel art',
  ],
  [
    ['style:flat'],
    '扁平 扁平化 极简 简约 插画 矢量 剪纸 扁平风',
    'flat minimalist minimal vector illustration papercut|paper cut|flat design',
  ],
  [['style:sketch'], '素描 铅笔画 线稿 速写 炭笔', 'sketch pencil charcoal drawing lineart'],
  [
    ['style:neon'],
    '赛博朋克 霓虹灯 蒸汽波 科幻 未来 未来城市',
    'cyberpunk neon synthwave vaporwave futuristic sci-fi scifi',
  ],
  [['style:anime'], '动漫 动画 二次元 吉卜力 宫崎骏 新海诚', 'anime ghibli manga cartoon'],
  [['style:print'], '浮世绘 版画 木刻', 'ukiyo-e ukiyoe woodcut linocut woodblock hokusai'],

  [['hour:dawn'], '黎明 清晨 早晨 拂晓 晨 晨光 破晓 早上 朝霞', 'dawn morning daybreak'],
  [
    ['hour:day'],
    '白天 正午 中午 白昼 晴天 晴空 晴朗 下午',
    'noon midday daytime daylight afternoon sunny day',
  ],
  [['hour:dusk'], '黄昏 傍晚 晚霞 暮色 黄金时刻 霞 暮', 'dusk evening twilight|golden hour'],
  [['hour:night'], '夜 夜晚 晚上 深夜 午夜 夜空 黑夜 夜色', 'night midnight nighttime'],

  [['season:spring'], '春 春天 春季 春日', 'spring springtime'],
  [['season:summer'], '夏 夏天 夏日 夏季', 'summer'],
  [['season:autumn'], '秋 秋天 秋日 秋季 金秋', 'autumn fall'],
  [['season:winter', 'subject:snow'], '冬 冬天 冬日 冬季 圣诞', 'winter christmas'],

  [['layout:centre'], '居中 中心构图', 'centered centred|centered composition'],
  [['layout:thirds'], '三分法 三分构图', '|rule of thirds'],
  [['layout:close'], '特写 近景 微距', 'close-up closeup macro|close up'],
  [
    ['layout:wide'],
    '远景 全景 广角 辽阔 壮丽 宏伟 大场景',
    'panorama panoramic wide epic vast|wide shot|wide angle',
  ],
  [['layout:symmetric'], '对称 对称构图', 'symmetric symmetrical symmetry'],

  [['colour:red'], '红 红色 朱红 大红 赤', 'red crimson scarlet'],
  [['colour:orange'], '橙 橙色 橘色 橘', 'orange'],
  [['colour:yellow'], '黄 黄色', 'yellow'],
  [['colour:green'], '绿 绿色 翠 翠绿 青翠', 'green emerald'],
  [['colour:cyan'], '青 青色 碧 青绿', 'cyan teal turquoise'],
  [['colour:blue'], '蓝 蓝色 湛蓝 天蓝 深蓝', 'blue azure navy'],
  [['colour:purple'], '紫 紫色', 'purple violet magenta'],
  [['colour:pink'], '粉 粉色 粉红 桃红', 'pink'],
  [['colour:brown'], '棕 棕色 褐 褐色', 'brown'],
  [['colour:black'], '黑 黑色 黑白', 'black monochrome'],
  [['colour:white'], '白 白色 洁白', 'white'],
  [['colour:grey'], '灰 灰色', 'grey gray'],
  [['colour:gold'], '金 金色 金黄', 'gold golden'],

  [['mood:warm'], '温暖 暖色 暖色调 温馨', 'warm cozy cosy'],
  [['mood:cool'], '冷色 冷色调 清凉 寒冷 冷', 'cool cold chilly'],
  [['mood:dark'], '黑暗 阴暗 昏暗', 'dark gloomy moody'],
  [['mood:bright'], '明亮 光明', 'bright'],
  [['mood:soft'], '柔和 梦幻 朦胧 唯美 柔光', 'soft dreamy pastel dreamlike'],
  [['mood:overcast'], '阴天 多云 阴', 'overcast cloudy'],
  [['mood:vivid'], '鲜艳 绚丽 绚烂 斑斓 五彩', 'vivid vibrant colorful colourful'],
  [['mood:calm'], '宁静 安静 平静 静谧 禅', 'calm peaceful serene tranquil quiet zen'],

  [
    [],
    '一叶 雨林风 日本 生日 金属 中国 马上 花费 人工 人类 个人 海拔 江湖 风景 美丽 水平 大家 明天 今天 星期 山东 山西 云南 风格 花纹 高清 高质量 电影 叶子节 后期 冷静 黄金 国风 古典 一些 许多 光影 星光 火红 雪白 花样 水润 月色下 家里 人们 人群',
    '',
  ],
];

/** Letters that make no other thing of a word that is known: 山间, 湖面, 雨后, 小亭子. */
const plainLetters = new Set(
  '上下里中内外间边旁前后底面顶头子儿们色光影景天大小老古新美高低远近深浅满处时分的地得着了和与及有是在把被从向往到这那某每个一二两三四五六七八九十几数半双只条匹朵棵株座栋片轮弯盏艘辆架张幅位名群对杯碗颗粒块滴束簇丛排行串层道缕抹些丝起来去生开起落升飘飞过穿入出',
);

const verbs =
  '奔跑 飞翔 飞行 盛开 绽放 流淌 站立 坐着 站着 躺着 看着 望着 走路 行走 散步 漫步 跳舞 微笑 睡觉 休息 等待 看书 读书 写字 弹琴 唱歌 吃饭 喝茶 下棋 钓鱼 游泳 跳跃 旋转 燃烧 闪烁 发光 照耀 照亮 映照 笼罩 覆盖 环绕 围绕 穿过 经过 透出 透过 洒满 洒在 倒映 漂浮 飘落 飘扬 飘动 升起 落下 拥抱 牵手 回头 抬头 眺望 仰望 俯瞰 独自 一起 中间 之间 之中 之上 之下 旁边 附近 周围 背后 前方 上方 下方 左边 右边';
const adjectives =
  '可爱 漂亮 优雅 精致 细腻 真实 写实 逼真 清新 自然 浪漫 神秘 孤独 快乐 悲伤 古老 现代 传统 巨大 高大 宏大 细小 遥远 安详 清澈 透明 晶莹 茂密 茂盛 金色 银色 彩色 深色 浅色 明媚 灿烂 璀璨 朴素 华丽 复古 怀旧 慵懒 悠闲 唯美 抽象 立体 治愈 史诗 震撼 丰富 饱满 蜿蜒 连绵 起伏 巍峨 陡峭 寂静 空旷 繁华 热闹 古朴 雅致 意境 诗意 飘逸';
const craft =
  '画面 构图 背景 前景 主体 光线 光影 氛围 质感 细节 场景 画风 色调 色彩 配色 镜头 视角 角度 俯视 仰视 正面 侧面 全身 半身 高清 超清 超高清 画质 作品 图片 照片 图案 壁纸 封面 海报 头像框 线条 笔触 纹理 材质 渲染 大师 杰作 一幅 一张 画作 绘画 艺术 摄影 摄影作品 虚化 景深 逆光 侧光 背光 柔光 留白 风格 元素 主题 感觉 样子 气氛 季节 时候 时间 位置 地方 世界 以及 还有 或者 非常 十分 很多 许多 一些 如画 如诗 无人 不要 没有 万里 千里 敞篷';
const silent = new Set(`${verbs} ${adjectives} ${craft}`.split(' '));
/** How something is or where, by its form. */
const isManner = (word: string): boolean => /[在着了地得]$|^[很更最太]/.test(word);
/** Of words of one letter those that name a thing; the others are parts of speech. */
const singleThings = new Set(
  '龙虎熊狼象猴羊牛猪鸡鸭鹅兔狐狮豹蛇鼠鹰龟虾蟹蜂车书剑枪刀伞琴笛鼓桌椅床门墙碗瓶壶锅糖饼面包饭蛋瓜桃梨枣',
);

const englishSilent = new Set(
  'the and with for from over under into onto near beside behind between through above below across around along upon inside outside that this these those its his her their your our very more most some many few several two three four five one single big small large little tiny huge giant tall short long wide narrow old new young ancient modern beautiful pretty lovely cute elegant detailed realistic photorealistic photo photograph photography picture image painting drawing illustration art artwork artstation style styled render rendering rendered digital high quality highly best masterpiece resolution ultra hd 4k 8k uhd hdr light lights lighting lit shadow shadows color colors colour colours colored tone tones texture atmosphere mood scene scenery view background foreground focus depth bokeh composition perspective angle shot cinematic dramatic epic magic magical mystical mysterious fantasy surreal abstract simple clean fresh natural nature wild distant far close standing sitting lying walking running flying floating looking holding wearing sleeping playing resting rising falling shining glowing blooming surrounded covered filled made there are was were has have been being where while when like as at by in on of to up out a an is it he she they no not without only just also behind front left right top bottom middle full half hope love dream peace joy happy sad lonely wet dry hot flowing winding air'.split(
    ' ',
  ),
);
const namesSomething = (word: string): boolean =>
  word.length > 2 &&
  /^[a-z]/.test(word) &&
  !englishSilent.has(word) &&
  !/.{3}(?:ing|ly)$/.test(word);

const chineseWords = new Map<string, readonly Sign[]>();
const englishWords = new Map<string, readonly Sign[]>();
for (const [signs, chinese, english] of lexicon) {
  for (const word of chinese.split(' ')) if (word !== '') chineseWords.set(word, signs);
  const [single = '', ...phrases] = english.split('|');
  for (const word of [...single.split(' '), ...phrases])
    if (word !== '') englishWords.set(word, signs);
}
const longest = Math.max(...[...chineseWords.keys()].map((word) => word.length));

const singular = (word: string): string[] => [
  word,
  word.replace(/s$/, ''),
  word.replace(/es$/, ''),
  word.replace(/ies$/, 'y'),
  word.replace(/ves$/, 'f'),
];

const englishSigns = (words: readonly string[]): readonly Sign[] | undefined => {
  const start = words
    .slice(0, -1)
    .map((word) => `${word} `)
    .join('');
  for (const last of singular(words.at(-1) ?? '')) {
    const found = englishWords.get(start + last);
    if (found) return found;
  }
  return undefined;
};

const refusing = /(?:没有|不要|去掉|除了|无|别|\bno|\bwithout|\bnot)\s*$/i;

/** A word that is known, where it stands in a run of Chinese. */
interface Known {
  from: number;
  to: number;
  signs: readonly Sign[];
}

const knownIn = (run: string): Known[] => {
  const found: Known[] = [];
  for (let at = 0; at < run.length;) {
    let length = Math.min(longest, run.length - at);
    while (length > 0 && !chineseWords.has(run.slice(at, at + length))) length -= 1;
    const signs = chineseWords.get(run.slice(at, at + length));
    if (signs) found.push({ from: at, to: at + length, signs });
    at += Math.max(1, length);
  }
  return found;
};

/** Chinese is written without spaces: which letters are one word the platform's dictionary knows. */
const dictionary = new Intl.Segmenter('zh', { granularity: 'word' });

/**
 * A run of Chinese, word by word. What is known counts where it is a word or is left by words that
 * say nothing more; a word of which only a part is known is another thing: 大熊猫 is no cat.
 */
const readChinese = (run: string): { known: Known[]; unread: string[] } => {
  const known = knownIn(run);
  const covered = new Set<number>();
  for (const { from, to } of known) for (let at = from; at < to; at += 1) covered.add(at);
  const unread: string[] = [];
  const lost = new Set<Known>();
  for (const { segment, index } of dictionary.segment(run)) {
    let bare = false;
    for (let at = 0; at < segment.length && !bare; at += 1)
      bare = !covered.has(index + at) && !plainLetters.has(segment.charAt(at));
    if (!bare) continue;
    const within = known.filter(({ from, to }) => from >= index && to <= index + segment.length);
    const crossed = known.some(
      (each) => !within.includes(each) && each.from < index + segment.length && each.to > index,
    );
    if (crossed) continue;
    if (segment.length === 1 ? !singleThings.has(segment) : isManner(segment)) continue;
    // In a phrase of four letters a whole word keeps its meaning: 明月当空 has a moon.
    if (segment.length > 3 && within.some(({ from, to }) => to - from > 1)) continue;
    for (const each of within) lost.add(each);
    if (!silent.has(segment)) unread.push(segment.replace(/(?<=.)[上下里中内外边旁]$/, ''));
  }
  return { known: known.filter((each) => !lost.has(each)), unread };
};

/** Signs in their order, the ones that the text itself refuses (没有人), and what it names besides. */
const readSigns = (text: string): { wanted: Sign[]; refused: Sign[]; unread: string[] } => {
  const wanted: Sign[] = [];
  const refused: Sign[] = [];
  const unread: string[] = [];
  const isRefused = (at: number) => refusing.test(text.slice(Math.max(0, at - 12), at));
  const add = (signs: readonly Sign[], at: number) =>
    (isRefused(at) ? refused : wanted).push(...signs);
  const miss = (word: string, at: number) => {
    if (!isRefused(at)) unread.push(word);
  };
  const pattern = /[\p{Script=Han}]+|[a-z0-9][a-z0-9'-]*/gu;
  const latin: { word: string; at: number }[] = [];
  const readLatin = () => {
    for (let at = 0; at < latin.length;) {
      const { word, at: place } = latin[at]!;
      const take = [3, 2, 1].find((count) => {
        const signs = englishSigns(latin.slice(at, at + count).map((each) => each.word));
        if (signs) add(signs, place);
        return signs;
      });
      // A word with a dash may be two that are known.
      if (take === undefined) {
        let some = false;
        for (const part of word.split('-').slice(word.includes('-') ? 0 : 1)) {
          const signs = englishSigns([part]);
          some ||= signs !== undefined;
          add(signs ?? [], place);
        }
        if (!some && namesSomething(word)) miss(word, place);
      }
      at += take ?? 1;
    }
    latin.length = 0;
  };
  for (const { 0: run, index } of text.matchAll(pattern)) {
    if (/^[a-z0-9]/.test(run)) {
      latin.push({ word: run, at: index });
      continue;
    }
    readLatin();
    const { known, unread: others } = readChinese(run);
    for (const { from, signs } of known) add(signs, index + from);
    for (const word of others) miss(word, index + run.indexOf(word));
  }
  readLatin();
  return { wanted, refused, unread };
};

/** Characters of a prompt that are read. */
const mostRead = 4000;
const loraTag = /<lora:[^<>]*>/gi;
const flags = /(?:^|\s)--\w+(?:\s+[^\s-]\S*)?/g;

const clean = (text: string): string =>
  text.slice(0, mostRead).normalize('NFKC').toLowerCase().replace(loraTag, ' ').replace(flags, ' ');

const valuesOf = <T extends string>(signs: readonly Sign[], kind: string): T[] => [
  ...new Set(
    signs.flatMap((sign) =>
      sign.startsWith(`${kind}:`) ? [sign.slice(kind.length + 1) as T] : [],
    ),
  ),
];

/** Words that are told to have asked for nothing, at most. */
const mostUnread = 6;

/** Things that the words name and that cannot be drawn, in their order, each once. */
export const unreadWords = (prompt: string): string[] =>
  [...new Set(readSigns(clean(prompt)).unread)].slice(0, mostUnread);

/** What is asked for by the words, less what the negative words name. */
export const readWish = (prompt: string, negative = ''): Wish => {
  const text = clean(prompt);
  const { wanted, refused } = readSigns(text);
  const gone = new Set<Sign>([...refused, ...readSigns(clean(negative)).wanted]);
  const signs = wanted.filter((sign) => !gone.has(sign));
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return {
    subjects: valuesOf<Subject>(signs, 'subject'),
    style: valuesOf<Style>(signs, 'style')[0] ?? null,
    hour: valuesOf<Hour>(signs, 'hour')[0] ?? null,
    season: valuesOf<Season>(signs, 'season')[0] ?? null,
    layout: valuesOf<Layout>(signs, 'layout')[0] ?? null,
    colours: valuesOf<ColourName>(signs, 'colour').slice(0, 3),
    moods: valuesOf<Mood>(signs, 'mood'),
    hash: hashText(words.join(' ')),
  };
};
