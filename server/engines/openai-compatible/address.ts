/** The address of a call below a service's base. A base without a path gets OpenAI's `/v1`. */
export const apiUrl = (baseUrl: string, call: string): URL => {
  const url = new URL(baseUrl);
  const folder = url.pathname.replace(/\/+$/, '') || '/v1';
  url.pathname = `${folder}/${call}`;
  return url;
};
