import type { EditorProps } from './editor-props.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';

const EditorView = lazyAsked(() => import('./editor-view.tsx'));

/** Writes Markdown over the whole screen: toolbar, preview, drafts. Put it on the page while it is open. */
export const MarkdownEditor = (props: EditorProps) => <EditorView {...props} />;
