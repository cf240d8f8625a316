import { useRef } from 'react';

/** As long as it is held, ms. */
const pressTime = 480;

/** Opens a message's sheet by a long press; a finger that moves scrolls instead. */
export const useLongPress = (act: () => void) => {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const start = useRef({ x: 0, y: 0 });
  const pressed = useRef(false);
  const cancel = () => clearTimeout(timer.current);
  return {
    onTouchStart: (event: React.TouchEvent) => {
      const touch = event.touches[0];
      if (!touch || event.touches.length > 1) return;
      start.current = { x: touch.clientX, y: touch.clientY };
      cancel();
      pressed.current = false;
      timer.current = setTimeout(() => {
        pressed.current = true;
        act();
      }, pressTime);
    },
    onTouchMove: (event: React.TouchEvent) => {
      const touch = event.touches[0];
      if (!touch) return;
      const far =
        Math.abs(touch.clientX - start.current.x) + Math.abs(touch.clientY - start.current.y) > 10;
      if (far) cancel();
    },
    onTouchEnd: (event: React.TouchEvent) => {
      cancel();
      // The finger that opened the sheet presses nothing of it when it leaves.
      if (pressed.current && event.cancelable) event.preventDefault();
    },
    onTouchCancel: cancel,
  };
};
