/** Names under which services offer embeddings, and what puts passages in order. */
const embeds =
  /(^|[-_/.:])(?:[a-z]*embed[a-z]*|bge|gte|e5|m3e|minilm|text2vec|labse|stella|piccolo|voyage)(?=$|[-_/.:\d])/i;
const reranks = /rerank/i;

export const isReranker = (name: string): boolean => reranks.test(name);
export const isEmbeddingModel = (name: string): boolean => embeds.test(name) && !isReranker(name);
/** Whether knowledge bases have a use for it: to embed, or to put what was found in order. */
export const isKnowledgeModel = (name: string): boolean => embeds.test(name) || isReranker(name);
