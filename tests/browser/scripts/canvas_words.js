// Runs before the page does: remembers what is written on each canvas, which no one can read back.
(() => {
  const plain = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    (this.canvas.written ??= new Set()).add(String(text));
    return plain.call(this, text, ...rest);
  };
})();
