import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';

/** Takes over the channels of another program, and says which were left out. */
export const ImportChannels = ({ open, onClose }: { open: boolean; onClose: () => void }) => {
  const [made, setMade] = useState<Out<'importChannels'>>();
  return (
    <Sheet open={open} onClose={onClose} title="导入渠道">
      <Form
        fields={[
          {
            name: 'text',
            label: '渠道列表（JSON）',
            kind: 'long',
            lines: 8,
            mono: true,
            required: true,
            max: 2_000_000,
            hint: '浏览器里打开 new-api 或 one-api 的 /api/channel/，把回答全部贴在这里。列表里没有密钥时，导入后逐个填写',
          },
        ]}
        submit="导入"
        onSubmit={async (sent) => {
          const result = await api.importChannels({ text: String(sent['text']) }, { quiet: true });
          setMade(result);
          toast(`导入了 ${result.added.length} 个`, 'success');
        }}
      />
      {made && made.skipped.length > 0 && (
        <ul>
          {made.skipped.map(({ label, reason }, at) => (
            <li key={`${label} ${at}`}>
              {label}：没有导入，{reason}
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  );
};
