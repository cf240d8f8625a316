/** The account that a token names; null for none. Only the server may trust it, and checks its signature. */
export const subjectOf = (token: string): string | null => {
  try {
    const payload = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'));
    const { sub } = JSON.parse(payload) as { sub?: unknown };
    return typeof sub === 'string' ? sub : null;
  } catch {
    return null;
  }
};
