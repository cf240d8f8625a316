/** Pixels of samples. */
export const ideaShapes = { wide: [1024, 768], tall: [768, 1024] } as const;

/**
 * Images to try, each of things that what is built in draws well; their samples lie in `public/samples/`.
 * `style`: the built-in canvas's, as the words ask for it; empty: none. `shape`: of the sample.
 */
export const imageIdeas = [
  { name: 'snow', prompt: '黄昏的雪山，湖面倒影，几只飞鸟', style: '', shape: 'wide' },
  {
    name: 'lighthouse',
    prompt: '月夜的海，远处一座灯塔，水彩',
    style: 'watercolour',
    shape: 'tall',
  },
  { name: 'town', prompt: '江南水乡，石桥，垂柳，细雨，水墨画', style: 'ink', shape: 'tall' },
  { name: 'magpies', prompt: '鹊桥，满天繁星', style: '', shape: 'wide' },
  { name: 'lotus', prompt: '清晨的荷塘，一只白鹭', style: '', shape: 'wide' },
  { name: 'autumn', prompt: '秋天的枫林，一座小木屋，油画', style: 'oil', shape: 'tall' },
  { name: 'neon', prompt: '赛博朋克城市夜景，雨', style: 'neon', shape: 'tall' },
  {
    name: 'balloon',
    prompt: 'hot air balloons over lavender fields at sunrise',
    style: '',
    shape: 'wide',
  },
] as const;
