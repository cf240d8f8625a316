import type { Lab } from './colour.ts';

/**
 * What is known of the images of one hand: how their colours lie and how their surface is. It is
 * laid over what was drawn as `<lora:key:weight>` says.
 */
export interface StyleProfile {
  key: string;
  /** Chinese. */
  label: string;
  /** Of all colours: where their middle lies and how far they spread, in Lab. */
  middle: Lab;
  spread: Lab;
  /** What dark and light places lean to, as #rrggbb. */
  dark: string;
  light: string;
  /** The surface: how rough it is (0 to 1), and how wide its grain, in shares of the image. */
  grain: { strength: number; width: number };
  /** How far details melt away, in shares of the image. */
  softness: number;
}
