import { helpOfCodes } from '#contract/errors.ts';
import { describe, expect, it } from 'vitest';
import { readdirSync } from 'node:fs';
import { help } from './help.service.ts';

/** What people ask, and the page that must come first. */
const questions: [string, string][] = [
  ['怎么用这个网站', 'start'],
  ['鹊桥是什么', 'start'],
  ['怎么新建一个会话', 'start'],
  ['手机上能用吗', 'start'],
  ['不登录可以用吗', 'account'],
  ['怎么安装到手机上', 'app'],
  ['苹果手机怎么添加到主屏幕', 'app'],
  ['没有网络能用吗', 'app'],
  ['怎么更新到新版本', 'app'],
  ['怎么注册账号', 'account'],
  ['忘记密码了怎么办', 'account'],
  ['为什么要我填验证码', 'account'],
  ['我的账号被封了', 'account'],
  ['怎么退出登录', 'account'],
  ['怎么换模型', 'models'],
  ['倍率是什么意思', 'models'],
  ['为什么模型列表里只有内置助手', 'models'],
  ['怎么连接 DeepSeek', 'connect'],
  ['如何接入 Ollama 本地模型', 'connect'],
  ['通义千问的 base url 是什么', 'connect'],
  ['API key 填在哪里', 'connect'],
  ['OPENAI_MODELS 怎么写', 'connect'],
  ['我的密钥会不会泄露', 'connect'],
  ['知识库里的一段不想被找到', 'keep-knowledge'],
  ['网页更新了知识库会跟着变吗', 'keep-knowledge'],
  ['怎么给知识库写问答', 'keep-knowledge'],
  ['token 是什么', 'tokens'],
  ['怎么扣费', 'tokens'],
  ['余额不足怎么办', 'tokens'],
  ['新用户送多少 token', 'tokens'],
  ['在哪里看消费记录', 'tokens'],
  ['停止回复还扣钱吗', 'tokens'],
  ['每个月能建多少个会话', 'tokens'],
  ['怎么把会话设为私有', 'privacy'],
  ['别人能看到我的聊天吗', 'privacy'],
  ['怎么删除聊天记录', 'privacy'],
  ['按回车不要发送，要换行', 'send'],
  ['有哪些快捷键', 'send'],
  ['发不出去消息', 'send'],
  ['模型记不住前面说的话', 'send'],
  ['支持 LaTeX 公式吗', 'markdown'],
  ['怎么画流程图', 'markdown'],
  ['怎么停止回复', 'stop-retry'],
  ['重新生成回答', 'stop-retry'],
  ['提示模型服务繁忙', 'stop-retry'],
  ['断网了回复会丢吗', 'reconnect'],
  ['换一台电脑能接着看吗', 'reconnect'],
  ['温度是什么', 'settings'],
  ['怎么打开夜间模式', 'themes'],
  ['换成微信主题', 'themes'],
  ['我的内容会发给谁', 'security'],
  ['管理员密码是多少', 'admin'],
  ['怎么改端口', 'deploy'],
  ['怎么备份数据库', 'deploy'],
  ['nginx 反向代理怎么配置', 'deploy'],
  ['怎样用微信支付收款', 'deploy'],
  ['怎么填入演示数据', 'testing'],
  ['回复太慢了', 'faq'],
  ['能不能画图', 'faq'],
  ['怎么画图', 'drawing'],
  ['这个应用怎么画图？', 'drawing'],
  ['如何安装', 'app'],
  ['内置助手会做什么', 'assistant'],
  ['怎么修改已经发出去的问题', 'branches'],
  ['能让两个模型同时回答吗', 'branches'],
  ['怎么让模型看图片', 'attachments'],
  ['可以上传 PDF 文件吗', 'attachments'],
  ['怎么给别人发私信', 'people'],
  ['问答里怎么艾特', 'people'],
  ['在哪里看我的收藏', 'favorites'],
  ['怎么搜索聊天记录里的话', 'favorites'],
  ['怎么把会话导出成 PDF', 'export'],
  ['怎么导入 ChatGPT 的聊天', 'export'],
  ['分享链接怎么收回', 'export'],
  ['有没有无痕模式', 'scenarios'],
  ['知识库怎么用', 'train'],
  ['怎麼安裝到手機上', 'app'],
  ['可以联网搜索吗', 'faq'],
  ['操作太频繁是什么意思', 'faq'],
  ['手机丢了验证器也没了', 'security'],
  ['怎么在应用市场评分', 'market'],
];

describe('search in the help pages', () => {
  it.each(questions)('%s → %s', (question, slug) => {
    const [best] = help().search(question, 3);
    expect(best?.item.page.slug).toBe(slug);
    expect(best?.coverage).toBeGreaterThanOrEqual(0.5);
  });

  it.each([
    '红烧肉怎么做',
    '写一首关于秋天的诗',
    '法国的首都是哪里',
    '推荐几部电影',
    '量子力学是什么',
  ])('knows that it has nothing on %s', (question) => {
    expect(help().search(question, 1)[0]?.coverage ?? 0).toBeLessThan(0.5);
  });

  it('stays fast and quiet on any input', () => {
    for (const query of [
      '',
      '   ',
      '的的的',
      '😀',
      'a'.repeat(100_000),
      '模型'.repeat(50_000),
      '\u0000',
    ])
      expect(help().search(query, 5).length).toBeLessThanOrEqual(5);
  });
});

describe('the help pages', () => {
  it('have a title, a summary and links that lead somewhere', () => {
    const { pages } = help();
    expect(pages.length).toBeGreaterThanOrEqual(15);
    for (const page of pages) {
      expect(page.title).not.toBe('');
      expect(page.summary.length).toBeGreaterThan(10);
      expect(page.content).not.toContain('<!--');
      for (const [, slug] of page.content.matchAll(/\/help\?page=([\w-]+)/g))
        // One is made of what is connected, not of a text.
        if (slug !== 'third-parties') expect(help().page(slug ?? '')?.slug).toBe(slug);
    }
  });

  it('answer each code of an error, below a heading of their own', () => {
    const missing = Object.values(helpOfCodes).filter((place) => {
      const [slug = '', heading = ''] = place.split('#');
      const part = help()
        .page(slug)
        ?.content.split(/^(?=## )/m)
        .find((each) => each.startsWith(`## ${heading}\n`));
      return (part ?? '').length < heading.length + 30;
    });
    expect(missing).toEqual([]);
  });
});

it('the pictures that pages show are those that the script took', () => {
  const shown = help().pages.flatMap(({ content }) =>
    [...content.matchAll(/!\[[^\]]+\]\(\/help\/([\w-]+\.webp)\)/g)].map(([, name]) => name),
  );
  const folder = new URL('../../../public/help/', import.meta.url);
  expect(new Set(shown)).toEqual(new Set(readdirSync(folder)));
  // Nobody finds or quotes the words of a picture.
  for (const { item } of help().search('五步里的“用什么回答”', 5))
    expect(item.text).not.toContain('![');
});
