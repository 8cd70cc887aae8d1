// Sets the page up.

const root = document.documentElement;
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

function sayTheme() {
  byId("theme").setAttribute("aria-pressed", String(isDark()));
}
byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  sayTheme();
});
prefersDark.addEventListener("change", sayTheme);
sayTheme();

byId("feature-names").append(...tested.map((j) => el("option", { value: features[j].name })));
view.outline = window.matchMedia("(max-width: 720px)").matches;
heading();
chooseClass();
keyFigures();
segments();
importances();
grown();
makeForm();
showJudged();
openFirst();
lay(view.outline);
showNode(0);
root.dataset.ready = "true";
