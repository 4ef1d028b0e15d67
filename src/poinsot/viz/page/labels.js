// Names beside the bodies. Names are text, whatever characters they have.

const MANY = 60;

const makeLabels = (box, bodies) => {
  const spans = bodies.slice(0, MANY).map((body) => {
    const span = document.createElement("span");
    span.textContent = body.name;
    box.append(span);
    return span;
  });
  return (poses, camera, shown) => {
    box.hidden = !shown;
    if (shown) spans.forEach((span, k) => {
      const [x, y, z] = poses[bodies[k].at].p, M = camera.toScreen;
      const [X, Y, W] = [0, 1, 3].map((i) => M[i] * x + M[4 + i] * y + M[8 + i] * z + M[12 + i]);
      span.hidden = W <= 0;
      span.style.left = `${50 + 50 * X / W}%`;
      span.style.top = `${50 - 50 * Y / W}%`;
    });
  };
};

const fillLegend = (list, bodies) => {
  for (const body of bodies.slice(0, MANY)) {
    const item = document.createElement("li"), mark = document.createElement("i");
    mark.style.background = body.colour;
    item.append(mark, document.createTextNode(body.name));
    list.append(item);
  }
  if (bodies.length > MANY) {
    const item = document.createElement("li");
    item.textContent = `and ${bodies.length - MANY} more`;
    list.append(item);
  }
};

