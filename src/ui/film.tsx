/** A film that was made here, in a loop. Nothing is spoken in it: it needs no subtitles. */
export const Film = ({
  url,
  poster,
  width,
  height,
  label,
  begins = false,
  ahead = 'none',
}: {
  url: string;
  poster: string;
  width: number;
  height: number;
  /** What a screen reader calls it. */
  label: string;
  /** It plays by itself. */
  begins?: boolean;
  /** What of it is loaded before it plays. */
  ahead?: 'none' | 'metadata';
}) => (
  <video
    src={url}
    poster={poster}
    width={width}
    height={height}
    controls
    loop
    muted
    autoPlay={begins}
    playsInline
    preload={ahead}
    aria-label={label}
  />
);
