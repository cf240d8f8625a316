import { useChatModels } from '#src/platform/queries.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { LanguageTabs } from './language-tabs.tsx';
import css from './api.module.css';
import { examples } from './examples.ts';
import { setFreshKey, useFreshKey } from './fresh-key.ts';

const notes = [
  '地址与 OpenAI 的写法相同：凡能填 base_url 和 api_key 的程序都能直接用。',
  '只对付费用户开放，按余额扣费；余额不足时返回 402，流式回复会在余额用完时停止，已写出的照常计费。',
  '提问和回答合计最多 4096 个 token（个别模型另有规定，可以在自己的 KEY 上调高）；流式回答的 n 只能是 1。',
  '失败时，OpenAI 写法的接口返回 error 对象；其余接口返回 {"result": false, "code", "message"}，流里的错误是数组 [code, message]。',
  '每个 KEY 有每分钟的请求数和 token 数限制，响应头 x-ratelimit-* 说明还剩多少；超出时返回 429 和 retry-after。',
  '带上请求头 idempotency-key（任意文字），24 小时内重复的请求只算一次。',
  '调用不保存进会话，只记录用量；/v1/responses 的回答保存 30 天，供 previous_response_id 使用，写 store: false 就不保存。',
  '批量的问题可以上传到 /v1/files、交给 /v1/batches：半价，空闲时做，24 小时内完成。',
  '会用 MCP 的程序，可以把 /mcp 填作工具服务（Streamable HTTP，令牌填 API-KEY）：问模型、画图、查自己的会话与知识库（限定了模型的密钥不能查），费用与限制和直接调用一样。',
  '响应头 x-price-yuan、x-deducted-tokens 是这一次的价钱，流在最后以注释行给出。',
];

export const ExampleTab = () => {
  const models = useChatModels().data ?? [];
  const fresh = useFreshKey();
  const { signedIn } = useAuth();
  const [at, setAt] = useState(0);
  const [model, setModel] = useState('');
  const chosen = model || models[0]?.name || 'builtin-assistant';
  const example = examples[at] ?? examples[0]!;
  const key = fresh || '您的 API-KEY';
  const block = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``;
  return (
    <div className={css.tabBody}>
      <div className={css.filled}>
        <label>
          <span>模型</span>
          <select value={chosen} onChange={(event) => setModel(event.target.value)}>
            {models.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>API-KEY</span>
          <input
            type="text"
            autoComplete="off"
            spellCheck={false}
            placeholder="粘贴后填进下面的代码，不会保存"
            value={fresh}
            onChange={(event) => setFreshKey(event.target.value)}
          />
        </label>
      </div>
      {fresh === '' && signedIn && (
        <p className={css.hint}>
          <Link to="/api">去创建一个</Link>，它会自动填进代码；已有的在那里复制，再粘贴到上面。
        </p>
      )}
      <LanguageTabs languages={examples} at={at} onChoose={setAt} />
      <div className={css.code} data-testid="example">
        {example.install !== '' && (
          <>
            <h2>安装</h2>
            <Markdown text={block('bash', example.install)} />
          </>
        )}
        <h2>请求</h2>
        <Markdown
          key={`${at} ${chosen} ${key}`}
          text={block(
            example.language,
            example.code({ origin: location.origin, key, model: chosen }),
          )}
        />
      </div>
      <section className="card">
        <h2 className={css.notesHead}>使用说明</h2>
        <ul className={css.notes}>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </section>
    </div>
  );
};
