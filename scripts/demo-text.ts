/** Believable Chinese people, questions and answers, put together from parts so that they vary. */

export const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

/** A whole number from min to max. */
export const between = (min: number, max: number): number =>
  min + Math.floor(Math.random() * (max - min + 1));

const families = Array.from(
  '王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾萧田董潘袁蔡蒋余',
);
const givens =
  '子涵 雨桐 浩然 欣怡 梓轩 诗涵 宇航 佳怡 俊杰 思远 雅婷 志强 晓梅 建国 海燕 明轩 静 磊 芳 勇 敏 涛 丽娜 文博 若曦 一鸣 沐阳 书瑶 天佑 安琪'.split(
    ' ',
  );

export const personName = (): string => `${pick(families)}${pick(givens)}`;

interface Topic {
  subjects: readonly string[];
  questions: readonly string[];
  points: readonly string[];
  code?: readonly string[];
}

const topics: readonly Topic[] = [
  {
    subjects: [
      '红烧肉',
      '番茄炒蛋',
      '麻婆豆腐',
      '清蒸鲈鱼',
      '酸辣土豆丝',
      '葱油拌面',
      '宫保鸡丁',
      '白切鸡',
    ],
    questions: [
      '{x}怎么做才好吃？',
      '家里只有电饭煲，能做{x}吗？',
      '{x}的关键步骤是什么，新手容易在哪里失败？',
      '两个人吃的{x}，各种材料大概要多少？',
    ],
    points: [
      '先把主料洗净切好，用厨房纸吸干水分，下锅时不容易溅油',
      '中小火慢慢来，火太大外面焦了里面还没熟',
      '盐要分两次放，出锅前再尝一次味道',
      '葱姜先爆香，再放{x}的主料',
      '加热水而不是冷水，肉质不会一下子收紧',
      '收汁的时候人不要离开，最后半分钟变化很快',
    ],
  },
  {
    subjects: ['Python', 'TypeScript', 'Go', 'Rust', 'SQL', 'Shell 脚本', 'Java', 'C++'],
    questions: [
      '用{x}写一个读取 CSV 并按列求和的例子',
      '{x}里怎样优雅地处理错误？',
      '刚学{x}，应该先看哪些内容？',
      '我的{x}程序越跑越慢，从哪里查起？',
      '{x}中并发应该怎么写才安全？',
    ],
    points: [
      '先写出能工作的最小版本，再一点点加功能',
      '把输入检查放在最外层，里面就可以放心地假设数据正确',
      '用{x}自带的测试工具，每改一处就跑一遍',
      '先测量再优化，猜出来的瓶颈十有八九不对',
      '错误要么处理，要么往上抛，不要悄悄吞掉',
      '给函数起一个说得清它做什么的名字',
    ],
    code: [
      '```python\nimport csv\n\ntotal = 0\nwith open("data.csv", newline="") as f:\n    for row in csv.DictReader(f):\n        total += float(row["amount"])\nprint(total)\n```',
      '```ts\nconst total = rows.reduce((sum, row) => sum + row.amount, 0);\nconsole.log(`合计 ${total}`);\n```',
      "```sql\nSELECT date_trunc('day', created_at) AS day, count(*)\nFROM orders\nGROUP BY 1\nORDER BY 1 DESC\nLIMIT 30;\n```",
    ],
  },
  {
    subjects: ['成都', '杭州', '西安', '大理', '青岛', '厦门', '哈尔滨', '桂林', '敦煌'],
    questions: [
      '去{x}玩三天，怎么安排比较合理？',
      '带老人和孩子去{x}，有什么要注意的？',
      '{x}几月份去最好？',
      '在{x}住哪里交通方便又不贵？',
    ],
    points: [
      '第一天不要排满，到{x}先休息半天',
      '热门的景点提前三天在网上预约，现场常常没有票',
      '住在地铁站五百米之内，能省下许多打车的钱',
      '当地人常去的小馆子多在老城区的巷子里',
      '带一件薄外套，早晚温差比想象的大',
      '最后一天留给买东西和慢慢逛',
    ],
  },
  {
    subjects: ['请假', '转正', '项目延期', '加薪', '离职', '年度总结', '客户道歉', '活动邀请'],
    questions: [
      '帮我写一封关于{x}的邮件，语气要得体',
      '{x}应该怎么和领导开口？',
      '写一份{x}的提纲，三百字左右',
      '把这段关于{x}的话改得更简洁',
    ],
    points: [
      '开头一句话说清来意，不绕弯子',
      '用具体的日期和数字，对方好安排',
      '说明{x}的原因，但不必解释太多',
      '主动给出交接或补救的办法',
      '结尾留下联系方式，并且道谢',
    ],
  },
  {
    subjects: ['勾股定理', '复利', '导数', '排列组合', '贝叶斯公式', '等差数列', '矩阵乘法'],
    questions: [
      '用生活里的例子讲讲{x}',
      '{x}为什么成立？',
      '给我三道关于{x}的练习题，附答案',
      '孩子总是弄不懂{x}，怎么教比较好？',
    ],
    points: [
      '先从看得见的东西讲起，再引出符号',
      '把{x}写成一句完整的话，比背公式管用',
      '做题时先估一个答案，算完再比较',
      '常见的错误是忘了条件，先圈出题目给了什么',
      '例如 $1+2+\\cdots+n = \\frac{n(n+1)}{2}$，可以用首尾配对看出来',
    ],
  },
  {
    subjects: ['失眠', '久坐腰酸', '眼睛疲劳', '减脂', '跑步膝盖疼', '感冒之后的咳嗽', '午后犯困'],
    questions: [
      '{x}有什么缓解的办法？',
      '{x}的时候饮食要注意什么？',
      '每天只有二十分钟，怎样改善{x}？',
    ],
    points: [
      '先记录一周，看看{x}和什么有关',
      '每隔一小时站起来走动两三分钟',
      '睡前一小时放下手机，灯光调暗',
      '循序渐进，每周增加的量不超过一成',
      '如果持续两周没有好转，或者有别的不适，请及时就医',
    ],
  },
  {
    subjects: ['《红楼梦》', '唐诗', '敦煌壁画', '丝绸之路', '二十四节气', '京剧', '故宫'],
    questions: [
      '给初学者介绍一下{x}',
      '{x}有哪些有意思的小故事？',
      '想系统地了解{x}，推荐一条路线',
      '用一段话概括{x}的价值',
    ],
    points: [
      '先抓住一条线索，不必一开始就求全',
      '{x}离今天的生活其实很近，许多说法都从那里来',
      '配合地图和年表一起看，脉络会清楚得多',
      '选一个好的注本，比多看几本泛泛的书有用',
      '看完之后试着讲给别人听，讲不清的地方就是没懂的地方',
    ],
  },
];

const openings = [
  '可以的，我分几点来说。',
  '这个问题很常见，关键在下面几处：',
  '好的，先说结论：不难，但顺序很重要。',
  '简单来说，抓住重点就行。',
  '先给一个可以直接照做的版本，再说为什么。',
];
const endings = [
  '需要的话，我可以再说得细一点。',
  '如果告诉我更多的情况，我能给出更合适的建议。',
  '先照着试一次，有问题随时回来问。',
  '希望对你有帮助！',
  '',
];
const followUps = [
  '能再具体一点吗？',
  '第二点没看懂，举个例子吧',
  '如果时间只有一半呢？',
  '有没有更省钱的办法？',
  '换一种说法讲给十岁的孩子听',
  '总结成三句话',
  '继续',
];

const table = (points: readonly string[]): string =>
  [
    '| 步骤 | 做什么 | 大约用时 |',
    '|---|---|---|',
    ...points
      .slice(0, 3)
      .map((point, index) => `| ${index + 1} | ${point} | ${between(1, 12) * 5} 分钟 |`),
  ].join('\n');

const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);

export interface Conversation {
  ask: (index: number) => string;
  answer: () => string;
}

/** A conversation about one subject. */
export const conversation = (): Conversation => {
  const topic = pick(topics);
  const subject = pick(topic.subjects);
  const fill = (text: string) => text.replaceAll('{x}', subject);
  return {
    ask: (index) =>
      index === 0 || Math.random() < 0.4
        ? fill(pick(topic.questions))
        : `${pick(followUps)}${Math.random() < 0.3 ? `（我说的是${subject}）` : ''}`,
    answer: () => {
      const points = shuffled(topic.points).slice(0, between(2, topic.points.length)).map(fill);
      const parts = [pick(openings)];
      if (Math.random() < 0.15) parts.push(`## ${subject}`, table(points));
      else if (Math.random() < 0.5)
        parts.push(
          points.map((point) => `- **${point.slice(0, 4)}**${point.slice(4)}。`).join('\n'),
        );
      else parts.push(points.map((point, index) => `${index + 1}. ${point}。`).join('\n'));
      if (topic.code && Math.random() < 0.5) parts.push(pick(topic.code));
      parts.push(pick(endings));
      return parts.filter((part) => part !== '').join('\n\n');
    },
  };
};
