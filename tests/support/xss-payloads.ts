/**
 * Text that tries to make the page run something: every vector in every place where Markdown could
 * turn it into an element, an attribute or an address. Each sets `window.hacked` if it succeeds.
 */
const run = 'window.hacked=1';

const markup = [
  `<script>${run}</script>`,
  `<ScRiPt>${run}</sCrIpT>`,
  `<script src="data:text/javascript,${run}"></script>`,
  `<img src=x onerror="${run}">`,
  `<img src=x onerror=${run}//`,
  `<img/src/onerror=${run}>`,
  `<svg onload="${run}">`,
  `<svg><script>${run}</script></svg>`,
  `<svg><a xlink:href="javascript:${run}"><text y="20">x</text></a></svg>`,
  `<svg><animate onbegin="${run}" attributeName=x dur=1s>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror="${run}">`,
  `<iframe src="javascript:${run}"></iframe>`,
  `<iframe srcdoc="<script>parent.${run}</script>"></iframe>`,
  `<object data="javascript:${run}"></object>`,
  `<embed src="javascript:${run}">`,
  `<body onload="${run}">`,
  `<input autofocus onfocus="${run}">`,
  `<details open ontoggle="${run}">`,
  `<video><source onerror="${run}"></video>`,
  `<audio src=x onerror="${run}">`,
  `<marquee onstart="${run}">x</marquee>`,
  `<form action="javascript:${run}"><button>x</button></form>`,
  `<button formaction="javascript:${run}">x</button>`,
  `<a href="javascript:${run}">x</a>`,
  `<base href="javascript:${run}//">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${run}">`,
  `<link rel=stylesheet href="javascript:${run}">`,
  `<style>@import 'javascript:${run}';</style>`,
  `<div style="background:url(javascript:${run})">x</div>`,
  `<template><img src=x onerror="${run}"></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<!--><img src=x onerror="${run}">-->`,
  `<![CDATA[><img src=x onerror="${run}">]]>`,
  `<?xml ?><img src=x onerror="${run}">`,
  `<textarea></textarea><img src=x onerror="${run}">`,
  `</p></div><img src=x onerror="${run}">`,
  `&lt;img src=x onerror="${run}"&gt;`,
  `\u0000<img src=x onerror="${run}">`,
] as const;

const addresses = [
  `javascript:${run}`,
  `JaVaScRiPt:${run}`,
  ` javascript:${run}`,
  `java\tscript:${run}`,
  `javascript&colon;${run}`,
  `javascript&#58;${run}`,
  `javascript&#x3a;${run}`,
  `&#106;avascript:${run}`,
  `&#x6A;&#x61;vascript:${run}`,
  `\u0001javascript:${run}`,
  `javascript:%77indow.hacked=1`,
  `vbscript:${run}`,
  `data:text/html,<script>${run}</script>`,
  `data:text/html;base64,PHNjcmlwdD53aW5kb3cuaGFja2VkPTE8L3NjcmlwdD4=`,
  `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${run}'/>`,
  `data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5oYWNrZWQ9MSIvPg==`,
  `file:///etc/passwd`,
  `blob:https://example.com/x`,
  `//example.com/%0d%0a`,
  `/\\example.com`,
  `/chat?uuid=x&prompt=y&send=1`,
  `https://x" onmouseover="${run}`,
  `https://x' onclick='${run}`,
  `https://x/\`onload=${run}`,
] as const;

const around: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `> ${text}`,
  (text) => `- ${text}`,
  (text) => `# ${text}`,
  (text) => `| a | b |\n| --- | --- |\n| ${text} | x |`,
  (text) => `**${text}**`,
  (text) => `\`${text}`,
  (text) => `\`\`\`html\n${text}\n\`\`\``,
  (text) => `\`\`\`${text}\ncode\n\`\`\``,
  (text) => `$$\n${text}\n$$`,
];

const links: readonly ((address: string) => string)[] = [
  (address) => `[点我](${address})`,
  (address) => `[点我](<${address}>)`,
  (address) => `![图](${address})`,
  (address) => `<${address}>`,
  (address) => `[点我][r]\n\n[r]: ${address}`,
  (address) => `[![图](${address})](${address})`,
  (address) => `[点我](https://example.com "${address}")`,
  (address) => `- [ ] [点我](${address})`,
];

const formulas = [
  `$\\href{javascript:${run}}{x}$`,
  `$$\\href{javascript:${run}}{x}$$`,
  `$\\url{javascript:${run}}$`,
  `$\\htmlData{onclick=${run}}{x}$`,
  `$\\includegraphics{javascript:${run}}$`,
  `$\\htmlStyle{background:url(javascript:${run})}{x}$`,
  `$$\\def\\a{\\a\\a}\\a$$`,
  `\\(\\text{<img src=x onerror=${run}>}\\)`,
  `\\[\\unicode{<img src=x onerror=${run}>}\\]`,
];

const diagrams = [
  `graph TD\n  A["<img src=x onerror=${run}>"] --> B`,
  `graph TD\n  A --> B\n  click A "javascript:${run}"`,
  `graph TD\n  A --> B\n  click A call alert()`,
  `%%{init: {"securityLevel": "loose"}}%%\ngraph TD\n  A["<script>${run}</script>"]`,
  `sequenceDiagram\n  A->>B: <img src=x onerror=${run}>`,
  `classDiagram\n  class A\n  link A "javascript:${run}"`,
].map((source) => `\`\`\`mermaid\n${source}\n\`\`\``);

/** The payloads, each a text of its own. */
export const xssPayloads: readonly string[] = [
  ...markup.flatMap((text) => around.map((put) => put(text))),
  ...addresses.flatMap((address) => links.map((put) => put(address))),
  ...formulas,
  ...diagrams,
];
