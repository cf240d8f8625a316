/**
 * Models that are known to call tools by OpenAI's chat completions, by their names. Whoever is asked
 * with tools and refuses them is asked again without.
 */
const capable =
  /^(?:[\w.-]+\/)*(?:gpt-(?:3\.5-turbo|4(?!-vision)|4o|4\.\d|5)|chatgpt-4o|o[1345](?:-|$)|deepseek|qwen(?!-?vl-ocr|-?mt)|qwq|glm-(?:4|5|z1)|kimi|moonshot|doubao|gemini-(?:1\.5|2|3)|claude-|llama-?3\.[123]|llama-?4|mi[sx]tral|ministral|grok-|minimax|hunyuan|ernie-(?:4|5|x1)|step-|yi-|gpt-oss|command-r)/i;

export const callsTools = (name: string): boolean => capable.test(name);

/** About what a model is told of its tools with each question, tokens. */
export const toolTokens = 1130;
/** What the search of the web adds to that, and what it needs where nothing else is told. */
const webTokens = 80;
const webAlone = 175;

/** The same with what its person chose: tools at all, and the web. */
export const toolsTold = (usual: boolean, web: boolean): number =>
  usual ? toolTokens + (web ? webTokens : 0) : web ? webAlone : 0;
