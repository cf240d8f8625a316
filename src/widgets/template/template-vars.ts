/** What is to be filled in in a template: the words in `{{…}}`, each once, `input` among them. */
export const varsOf = (text: string): string[] => [
  ...new Set([...text.matchAll(/\{\{([^{}\n]{1,40})\}\}/g)].map(([, name]) => name?.trim() ?? '')),
];

/** The template with its words filled in; what has no value stays as it is. */
export const fillIn = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{([^{}\n]{1,40})\}\}/g, (whole, name: string) => {
    const value = values[name.trim()]?.trim() ?? '';
    return value === '' ? whole : value;
  });
