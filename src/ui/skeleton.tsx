/** Lines where text is going to be; heights as of the real thing, so that nothing moves. */
export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div className="skeleton" aria-hidden="true">
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} style={{ width: `${index === lines - 1 ? 55 : 100 - index * 8}%` }} />
    ))}
  </div>
);
