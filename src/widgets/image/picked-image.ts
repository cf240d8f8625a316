/** An image that was chosen; its address can be given to the server. */
export interface PickedImage {
  url: string;
  /** Pixels. */
  width: number;
  height: number;
}
