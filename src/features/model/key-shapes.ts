/**
 * Whose a key is, where its form is one maker's alone: nobody's key goes to another maker by a
 * guess. Plain `sk-` is everybody's.
 */
const shapes: readonly [RegExp, string][] = [
  [/^sk-ant-[\w-]{20,}$/, 'claude'],
  [/^sk-or-v\d-\w{20,}$/, 'openrouter'],
  [/^sk-(?:proj|svcacct|admin)-[\w-]{20,}$/, 'openai'],
  [/^AIza[\w-]{30,}$/, 'gemini'],
  [/^gsk_\w{20,}$/, 'groq'],
  [/^bce-v3\/\S{20,}$/, 'qianfan'],
  [/^[0-9a-f]{32}\.[A-Za-z0-9]{16}$/, 'glm'],
];

/** The preset whose keys have this form; undefined: more than one, or none. */
export const presetOfKey = (text: string): string | undefined => {
  const [first = ''] = text.trim().split(/\s+/);
  return shapes.find(([shape]) => shape.test(first))?.[1];
};
