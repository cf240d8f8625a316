import type { ClipboardEvent, KeyboardEvent, Ref } from 'react';
import { useSettings } from '#src/platform/queries.ts';
import { isSendKey } from '#src/platform/send-key.ts';

/** Where a message is written. Enter sends it, or begins a line where the person chose that. */
export const WordsField = ({
  ref,
  text,
  label,
  placeholder,
  onText,
  onSend,
  onPaste,
  onKey,
}: {
  ref: Ref<HTMLTextAreaElement>;
  text: string;
  label: string;
  placeholder: string;
  onText: (text: string) => void;
  onSend: () => void;
  onPaste?: ((event: ClipboardEvent) => void) | undefined;
  /** True: the key is taken by what stands above the field. */
  onKey?: (event: KeyboardEvent) => boolean;
}) => {
  const enterMakesLine = useSettings().disable_enter === 1;
  return (
    <textarea
      ref={ref}
      rows={1}
      value={text}
      placeholder={placeholder}
      aria-label={label}
      enterKeyHint={enterMakesLine ? 'enter' : 'send'}
      onChange={(event) => onText(event.target.value)}
      onPaste={onPaste}
      onKeyDown={(event) => {
        if (onKey?.(event) !== true) {
          if (!isSendKey(event.nativeEvent, enterMakesLine)) return;
          onSend();
        }
        event.preventDefault();
      }}
    />
  );
};
