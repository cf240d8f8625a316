/**
 * How long what people fill in may be, characters, and how large its numbers: one place for the
 * wire and for the forms. Without the validator, so that the page may load it.
 */
export const bounds = {
  /** Of what is listed by hand: the smaller, the earlier. */
  sort: { min: 0, max: 10_000 },
  scenario: {
    name: { min: 2, max: 32 },
    prompt: { min: 2, max: 512 },
    category: { min: 1, max: 10 },
    description: { max: 120 },
    sample: { max: 2000 },
  },
  template: { title: { min: 1, max: 50 }, content: { min: 1, max: 4000 } },
  keyword: {
    text: { min: 1, max: 200 },
    chinese: { min: 1, max: 100 },
    group: { min: 1, max: 20 },
  },
  forumGroup: { min: 1, max: 16 },
  blockedWord: { min: 1, max: 40 },
  report: { max: 500 },
  invoice: { title: { min: 1, max: 200 }, taxNumber: { max: 40 }, email: { min: 1, max: 200 } },
  order: { remarks: { max: 500 }, reason: { min: 1, max: 200 } },
  /** How a difference between payments and orders was settled. */
  difference: { min: 1, max: 500 },
  person: { remarks: { max: 200 } },
  model: {
    label: { min: 1, max: 100 },
    remarks: { max: 500 },
    address: { max: 500 },
    /** Characters of a prompt, tokens of an answer. */
    size: { min: 1, max: 10_000_000 },
    sort: { min: -100_000, max: 100_000 },
  },
  channel: {
    label: { min: 1, max: 60 },
    address: { max: 500 },
    weight: { min: 1, max: 1000 },
    priority: { min: 0, max: 1000 },
  },
  app: {
    title: { max: 60 },
    word: { max: 40 },
    version: { max: 40 },
    versionText: { max: 2000 },
    description: { max: 100_000 },
    comment: { min: 1, max: 1000 },
    /** Cents. */
    price: { min: 0, max: 100_000_000 },
  },
} as const;
