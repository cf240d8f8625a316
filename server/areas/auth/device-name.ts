const systems: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/HarmonyOS|OpenHarmony/, '鸿蒙'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'Mac'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];
const browsers: [RegExp, string][] = [
  [/MicroMessenger/, '微信'],
  [/AlipayClient/, '支付宝'],
  [/QQBrowser|MQQBrowser/, 'QQ 浏览器'],
  [/UCBrowser/, 'UC 浏览器'],
  [/MiuiBrowser/, '小米浏览器'],
  [/HuaweiBrowser/, '华为浏览器'],
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox|FxiOS/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'],
  [/Safari/, 'Safari'],
];

/** What a browser says it is, in words for people. */
export const deviceName = (agent: string): string => {
  const system = systems.find(([sign]) => sign.test(agent))?.[1];
  const browser = browsers.find(([sign]) => sign.test(agent))?.[1];
  if (system && browser) return `${system} 上的 ${browser}`;
  return system ?? browser ?? '未知设备';
};
