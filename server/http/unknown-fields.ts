import type * as z from 'zod/mini';

/** What is read of a schema's definition, whichever kind it is. */
interface Definition {
  shape?: Record<string, z.ZodMiniType>;
  /** Of an object that takes any other field, too. */
  catchall?: z.ZodMiniType;
  element?: z.ZodMiniType;
  innerType?: z.ZodMiniType;
  in?: z.ZodMiniType;
  options?: readonly z.ZodMiniType[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first field, such as `models.0.nmae`, that a value has and its schema does not know; null: none. */
export const unknownField = (schema: z.ZodMiniType, value: unknown): string | null => {
  const {
    shape,
    catchall,
    element,
    innerType,
    in: before,
    options,
  } = (schema as unknown as { def: Definition }).def;
  const within = innerType ?? before;
  if (within) return unknownField(within, value);
  if (options) {
    const found = options.map((each) => unknownField(each, value));
    // What one of the shapes knows is known.
    return found.includes(null) ? null : (found[0] ?? null);
  }
  const parts: [string, unknown, z.ZodMiniType | undefined][] = [];
  if (element && Array.isArray(value))
    for (const [at, part] of value.entries()) parts.push([String(at), part, element]);
  if (shape && isRecord(value))
    for (const [name, part] of Object.entries(value)) {
      const known = Object.hasOwn(shape, name) ? shape[name] : catchall;
      if (!known) return name;
      parts.push([name, part, known]);
    }
  for (const [name, part, known] of parts) {
    const deeper = known && unknownField(known, part);
    if (deeper) return `${name}.${deeper}`;
  }
  return null;
};
