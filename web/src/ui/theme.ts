export type Theme = "system" | "dark" | "light";

const KEY = "holdfast.theme";
const THEMES: Theme[] = ["system", "dark", "light"];

export function readTheme(): Theme {
  const stored = localStorage.getItem(KEY) as Theme | null;
  return stored && THEMES.includes(stored) ? stored : "system";
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export const nextTheme = (theme: Theme): Theme =>
  THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;
