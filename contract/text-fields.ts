import * as z from 'zod/mini';

/** `#rrggbb`. */
export const color = z.string().check(z.regex(/^#[0-9a-fA-F]{6}$/));

/** A text without what no page can show, and without spaces around it: so many characters. */
export const named = ({ min, max }: { min: number; max: number }) =>
  z.pipe(
    z.pipe(
      z.string().check(z.maxLength(10_000)),
      z.transform((value) =>
        value
          .replaceAll(
            /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
            '',
          )
          .trim(),
      ),
    ),
    z.string().check(z.minLength(min), z.maxLength(max)),
  );
