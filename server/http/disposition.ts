/** The `content-disposition` of a file to keep (RFC 6266): a name in ASCII for old clients, and the true one. */
export const disposition = (name: string): string => {
  const ascii = name.replace(/[^\w .()-]+/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
};
