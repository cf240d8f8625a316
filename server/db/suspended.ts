import { sql, type SQL, type SQLWrapper } from 'drizzle-orm';

/**
 * Of somebody whom an administrator disabled, as a condition on the number of their account: what
 * they said and offered is there for managers alone until they are enabled again. Whoever took back
 * their account is not meant; nor are their sessions, which are private meanwhile by themselves.
 */
export const suspended = (userId: SQLWrapper): SQL =>
  sql`EXISTS (SELECT FROM users person WHERE person.id = ${userId} AND person.disabled
    AND person.deleted_at IS NULL)`;

/** The same for a statement's text; `column`: where the number stands. */
export const suspendedText = (column: string): string =>
  `EXISTS (SELECT FROM users person WHERE person.id = ${column} AND person.disabled
    AND person.deleted_at IS NULL)`;
