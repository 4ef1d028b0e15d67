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

// How a body is shown, in the order in which clicks on its name go through these.
const STATES = [
  { opacity: 1, said: "shown" }, { opacity: 0.18, said: "faded" }, { opacity: 0, said: "hidden" },
];

// The list of names; a click on one fades its body, another hides it, a third shows it again.
const fillLegend = (list, named, visible, changed) => {
  for (const body of named.slice(0, MANY)) {
    const item = document.createElement("li"), button = document.createElement("button"), mark = document.createElement("i");
    let state = 0;
    const say = () => {
      const { opacity, said } = STATES[state];
      button.className = said;
      button.setAttribute("aria-label", `${body.name}: ${said}`);
      button.title = `${said}; click to change`;
      for (const k of body.members) visible[k] = opacity;
    };
    mark.style.background = body.colour;
    button.type = "button";
    button.append(mark, document.createTextNode(body.name));
    button.addEventListener("click", () => {
      state = (state + 1) % STATES.length;
      say();
      changed();
    });
    say();
    item.append(button);
    list.append(item);
  }
  if (named.length > MANY) {
    const item = document.createElement("li");
    item.textContent = `and ${named.length - MANY} more`;
    list.append(item);
  }
};
