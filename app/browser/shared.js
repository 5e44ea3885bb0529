// What Python and the browser both hold of the state: the param's name, and the state's own. The first two come with
// rows and tables; whether the page is embedded, and what it hides, is settled when it opens.

export const LISTED = ["gradients", "typed_scale"];

export const CHOSEN = [["log2_scale", "k"], ...["format", "selected", "view", "data", "losing", "unscale", "at", "example", "misplaced",
  "policy", "run", "scenario", "mode", "theme", "language"].map((name) => [name, name])];
