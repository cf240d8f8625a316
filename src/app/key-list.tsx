import { Sheet } from '#src/ui/sheet.tsx';
import { Fragment } from 'react';
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
    '看图',
    [
      ['上一张、下一张', '← →'],
      ['关闭', 'Esc'],
      ['标区域时撤销', 'Ctrl Z'],
      ['标区域时重做', 'Ctrl Shift Z'],
    ],
  ],
];

const KeyList = ({ onClose }: { onClose: () => void }) => (
  <Sheet open onClose={onClose} title="快捷键">
    <dl className={css.keys}>
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
  </Sheet>
);

export default KeyList;
