/** A magpie at the gap of a bridge, over water at dusk: stands where a page is missing or refused. */
export const BrokenBridge = () => (
  <svg viewBox="0 0 240 132" width={240} height={132} aria-hidden="true">
    <circle cx="176" cy="38" r="20" fill="var(--warning-soft)" />
    <path d="M0 96 38 62l22 18 26-30 40 46Z" fill="var(--card-soft)" />
    <path d="M118 96l34-34 20 20 18-14 50 28Z" fill="var(--line)" />
    <g fill="none" stroke="var(--accent)" strokeWidth="5" strokeLinecap="round">
      <path d="M10 92c22-22 50-30 84-30" />
      <path d="M150 64c32 2 58 11 80 28" />
    </g>
    <g fill="none" stroke="var(--accent)" strokeWidth="3" strokeLinecap="round">
      <path d="M34 80v18M58 70v28M82 66v32M166 68v30M190 74v24M212 84v14" />
    </g>
    <g
      fill="none"
      stroke="var(--accent)"
      strokeWidth="3"
      strokeLinecap="round"
      strokeDasharray="1 8"
      opacity="0.55"
    >
      <path d="M102 61h42" />
    </g>
    <path
      d="M118 30c7-3 15 0 17 7l6 2-6 2c-2 8-11 12-19 9l-22 7 15-13c-2-6 2-12 9-14Z"
      fill="var(--ink)"
    />
    <path d="M117 40c4 0 9 2 10 6-4 4-10 4-13 1Z" fill="var(--card)" />
    <circle cx="130" cy="35.500" r="1.500" fill="var(--card)" />
    <g stroke="var(--line-strong)" strokeWidth="3" strokeLinecap="round">
      <path d="M24 110h52M96 110h88M200 110h18M56 122h34M116 122h70" />
    </g>
  </svg>
);
