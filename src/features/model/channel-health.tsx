import { errorText } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { useState } from 'react';
import { useCall } from '#src/platform/call-query.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import type { AdminChannel, ChannelKind, ChannelLine } from '#contract/manage-model.ts';
import css from './channel-health.module.css';

/** What became of a call, as people are told. */
const words: Record<string, string> = {
  ok: '成功',
  cut: '太慢，被另一个渠道代替',
  asker: '提问本身的问题',
  connection: '连不上',
  key: '密钥被拒绝',
  money: '额度用完',
  doubt: '被拒绝（403）',
  full: '繁忙（429）',
  model: '没有这个模型',
  silent: '没有回应',
  failed: '出错',
};
const tones: Record<string, string> = { ok: 'good', cut: 'slow', asker: 'plain' };

const seconds = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} 毫秒` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} 秒`;

const Line = ({ line }: { line: ChannelLine }) => {
  const good = line.outcomes.filter(({ result }) => result === 'ok').length;
  const last = line.outcomes.find(({ result }) => result !== 'ok' && result !== 'asker');
  return (
    <li className={css.line}>
      <div className={css.head}>
        <strong>{line.model || '全部请求'}</strong>
        {line.key_hint && <span className="tag">{line.key_hint}</span>}
        {line.aside_until && (
          <span className={css.aside}>
            暂不使用：{words[line.aside_reason] ?? line.aside_reason}，
            {relativeTime(line.aside_until)}再试
          </span>
        )}
      </div>
      <div
        className={css.bars}
        role="img"
        aria-label={`最近 ${line.outcomes.length} 次，${good} 次成功`}
      >
        {line.outcomes.toReversed().map((one, at) => (
          <i
            // Outcomes have no name of their own; their order is what they are.
            key={`${one.at} ${at}`}
            data-tone={tones[one.result] ?? 'bad'}
            title={`${words[one.result] ?? one.result} · ${seconds(one.ms)} · ${relativeTime(one.at)}`}
          />
        ))}
      </div>
      <p className={css.facts}>
        <span>
          {good} / {line.outcomes.length} 成功
        </span>
        {line.p95 !== null && <span>p95 {seconds(line.p95)}</span>}
        {line.cut_calls > 0 && (
          <span>
            被代替 {line.cut_calls} 次，本站承担约 {line.cut_tokens} tokens
          </span>
        )}
        {last && (
          <span>
            最近一次：{words[last.result] ?? last.result}
            {last.status > 0 && `（${last.status}）`}，{relativeTime(last.at)}
          </span>
        )}
      </p>
    </li>
  );
};

interface Tried {
  model: string;
  ok: boolean;
  message: string;
  latency: number | null;
}

/** Tries all models of a service, one after the other. */
const TryAll = ({ channel }: { channel: AdminChannel }) => {
  const [tried, setTried] = useState<Tried[]>([]);
  const { busy, run } = useAct((error) =>
    setTried((before) => [
      ...before,
      { model: '', ok: false, message: errorText(error), latency: null },
    ]),
  );
  const all = () =>
    run(async () => {
      setTried([]);
      for (const model of channel.models) {
        const { ok, message, latency } = await api.testChannel(
          {
            id: channel.id,
            kind: channel.kind as ChannelKind,
            base_url: channel.base_url,
            model: channel.mapping[model] ?? model,
          },
          { quiet: true },
        );
        setTried((before) => [...before, { model, ok, message, latency }]);
      }
    });
  return (
    <>
      <Button busy={busy} onClick={() => void all()}>
        {busy ? `正在试 ${tried.length + 1} / ${channel.models.length}…` : '测试全部模型'}
      </Button>
      {tried.length > 0 && (
        <ul className={css.list}>
          {tried.map(({ model, ok, message, latency }) => (
            <li key={model} className={css.tried} data-ok={ok || undefined}>
              <strong>{model}</strong> {latency !== null && seconds(latency)} {message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

/** How each key of a service did with each of its models, a hundred calls back. */
export const ChannelHealth = ({
  channel,
  onClose,
}: {
  channel: AdminChannel | undefined;
  onClose: () => void;
}) => {
  const health = useCall(
    'channelHealth',
    { id: channel?.id ?? 0 },
    { enabled: channel !== undefined, refetchInterval: 5_000 },
  );
  return (
    <Sheet
      open={channel !== undefined}
      onClose={onClose}
      title={`${channel?.label ?? ''} 的健康`}
      wide
    >
      <div className={css.all}>
        {channel && <TryAll key={channel.id} channel={channel} />}
        {health.data?.list.length === 0 && (
          <p className="field-hint">
            还没有人用过它。有人用过之后，这里有最近的一百次：聊天按密钥与模型分开，别的按模型分开。
          </p>
        )}
        <ul className={css.list}>
          {health.data?.list.map((line, at) => (
            <Line key={`${line.model} ${line.key_hint} ${at}`} line={line} />
          ))}
        </ul>
      </div>
    </Sheet>
  );
};
