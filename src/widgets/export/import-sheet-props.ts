export interface ImportSheetProps {
  open: boolean;
  onClose: () => void;
}
