import { placeIcons } from '#src/ui/place-icons.ts';

/** Signs of the administration's places: none stands for two things. */
export const managerIcons = {
  ...placeIcons,
  home: 'M4 11.500 12 4.500l8 7M6 10v9.500h4.500V15h3v4.500H18V10',
  bars: 'M5 20v-9M12 20V5M19 20v-6',
  trend: 'M4 17l5-5 4 3.500L20 8M15.500 8H20v4.500',
  horn: 'M4 10v4h3l8 4.500v-13L7 10H4ZM18 9.500a4 4 0 0 1 0 5',
  cup: 'M8 4.500h8v5a4 4 0 0 1-8 0v-5ZM8 6H5c0 3 1 4.500 3.500 5M16 6h3c0 3-1 4.500-3.500 5M12 13.500V17M8.500 19.500h7',
  pie: 'M10.500 5a8 8 0 1 0 8.500 8.500h-8.500V5ZM14.500 4A7.500 7.500 0 0 1 20 9.500h-5.500V4Z',
  flag: 'M6 20.500v-16M6 5h11l-2.500 3.500L17 12H6',
  shield:
    'M12 3.500 19 6v5.500c0 4.500-3 7.500-7 9-4-1.500-7-4.500-7-9V6l7-2.500ZM9 12l2.200 2.200L15.500 10',
  pulse: 'M3.500 12.500h4l2.500-6 4 11 2.500-5h4',
  key: 'M14.500 14A5 5 0 1 0 10 9.500l-6 6V20h4.500v-2.500H11V15l1.500-1.500',
} as const;

export type ManagerIcon = keyof typeof managerIcons;
