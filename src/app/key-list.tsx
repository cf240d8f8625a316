import { Fragment } from 'react';
import { CommandPanel } from './command-panel.tsx';
import css from './command-palette.module.css';

/** Where, what it does, and its keys. */
const keys: readonly [string, readonly [string, string][]][] = [
  [
    '到处',
    [
      ['搜索会话、页面、模型、操作和帮助', 'Ctrl K'],
      ['新会话', 'Ctrl Shift O'],
      ['这张表', 'Ctrl /'],
    ],
  ],
  [
    '会话',
    [
      ['发送', 'Enter'],
      ['换行', 'Shift Enter'],
      ['修改上一个问题（输入框空着时）', '↑'],
      ['停止回复', 'Esc'],
      ['到开头、到末尾', 'Ctrl ↑ ↓'],
      ['返回', 'Ctrl ←'],
    ],
  ],
  [
    '列表与菜单',
    [
      ['上一项、下一项', '↑ ↓'],
      ['选这一项', 'Enter'],
      ['关闭', 'Esc'],
      ['提示词与场景（输入框里）', '/'],
      ['人与模型（输入框里）', '@'],
    ],
  ],
  [
    '看图',
    [
      ['上一张、下一张', '← →'],
      ['局部重绘', 'E'],
      ['再来几张', 'V'],
      ['高清放大', 'U'],
      ['图生视频', 'F'],
      ['下载', 'D'],
      ['关闭', 'Esc'],
    ],
  ],
  [
    '标区域',
    [
      ['撤销', 'Ctrl Z'],
      ['重做', 'Ctrl Shift Z'],
      ['画笔小一点、大一点', '[ ]'],
      ['画笔与橡皮', 'X'],
      ['按住移动图片', '空格'],
    ],
  ],
];

/** All keys, by where they work. */
export const KeyList = ({ onClose }: { onClose: () => void }) => (
  <CommandPanel label="快捷键" className={css.keys} onClose={onClose}>
    <h2>快捷键</h2>
    <dl>
      {keys.map(([where, rows]) => (
        <Fragment key={where}>
          <h3>{where}</h3>
          {rows.map(([what, pressed]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>
                {pressed.split(' ').map((each) => (
                  <kbd key={each}>{each}</kbd>
                ))}
              </dd>
            </div>
          ))}
        </Fragment>
      ))}
    </dl>
  </CommandPanel>
);
