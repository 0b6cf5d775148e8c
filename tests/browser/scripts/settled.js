// Whether the page has stood still for a while: its script has ended, nothing waits to be drawn.
() => {
  const app = document.querySelector("[data-testid=stApp]");
  const waits = "[data-testid=stSkeleton], [data-stale=true], [data-testid=stSpinner]";
  const still =
    app?.dataset.testScriptState === "notRunning" &&
    document.querySelector("h1") &&
    !document.querySelector(waits);
  if (!still) window.stillSince = undefined;
  else window.stillSince ??= performance.now();
  return still && performance.now() - window.stillSince > 600;
}
