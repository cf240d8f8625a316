import { Fragment } from 'react';
import css from './api.module.css';
import type { OpenCall } from './open-document.ts';

/** What a call may be told, and what becomes of it. */
export const FieldTable = ({ call: { method, fields, refused } }: { call: OpenCall }) => {
  const withFates = fields.some(({ fate }) => fate !== '');
  return (
    <>
      {fields.length > 0 && (
        <table className={css.fields}>
          <thead>
            <tr>
              <th scope="col">字段</th>
              <th scope="col">类型</th>
              {withFates && <th scope="col">怎样处理</th>}
            </tr>
          </thead>
          <tbody>
            {fields.map(({ name, kind, required, fate }) => (
              <tr key={name}>
                <td>
                  <code>
                    {name.split('_').map((word, at) => (
                      <Fragment key={at}>
                        {at > 0 && '_'}
                        {at > 0 && <wbr />}
                        {word}
                      </Fragment>
                    ))}
                  </code>
                </td>
                <td>
                  {kind || '任意'}
                  {required && '，必填'}
                </td>
                {withFates && <td>{fate}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {refused.length > 0 && (
        <details className={css.refused}>
          <summary>会拒绝的字段和原因</summary>
          <ul>
            {refused.map(({ name, note }) => (
              <li key={name}>
                <code>{name}</code> {note}
              </li>
            ))}
          </ul>
        </details>
      )}
      {method === 'POST' && <p className={css.hint}>不认识的字段会指名拒绝，不会悄悄丢掉。</p>}
    </>
  );
};
