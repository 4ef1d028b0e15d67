// Solids with soft light, and their shadows, by WebGL 2: all solids of one mesh in one call.

const SOLID = {
  vertex: `#version 300 es
    layout(location = 0) in vec3 vertex;
    layout(location = 1) in vec3 normal;
    layout(location = 2) in vec3 colour;
    layout(location = 4) in vec3 position;
    layout(location = 5) in vec4 rotation;
    layout(location = 6) in vec3 scale;
    layout(location = 7) in float opacity;
    uniform mat4 toScreen;
    uniform vec3 sun;
    uniform float floorHeight, shadow;
    out vec3 world, outward, tint;
    out float cover;
    vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
    void main() {
      tint = colour;
      cover = opacity;
      world = position + turn(rotation, scale * vertex);
      outward = turn(rotation, normal / max(scale, vec3(1e-12)));
      if (shadow > 0.0) world -= sun * ((world.z - floorHeight) / sun.z);
      gl_Position = toScreen * vec4(world, 1.0);
    }`,
  fragment: `#version 300 es
    precision highp float;
    in vec3 world, outward, tint;
    in float cover;
    uniform vec3 eye, sun;
    uniform float shadow, dimmed;
    out vec4 shade;
    void main() {
      if (shadow > 0.0) { shade = vec4(0.0, 0.0, 0.0, shadow); return; }
      vec3 view = normalize(eye - world), n = normalize(outward);
      if (dot(n, view) < 0.0) n = -n;
      float sky = 0.5 + 0.5 * n.z;
      float key = max(0.0, dot(n, sun)), front = max(0.0, dot(n, view));
      float shine = pow(max(0.0, dot(n, normalize(sun + view))), 42.0);
      vec3 light = mix(vec3(0.30, 0.29, 0.31), vec3(0.46, 0.49, 0.54), sky) + 0.52 * key + 0.20 * front;
      vec3 linear = pow(tint, vec3(2.2)) * light + 0.13 * shine;
      float rim = pow(1.0 - front, 3.0);
      shade = vec4(pow(linear + 0.06 * rim, vec3(1.0 / 2.2)), min(1.0, dimmed * cover * (1.0 + 0.8 * rim)));
    }`,
};

const compile = (gl, { vertex, fragment }, names) => {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(gl.getProgramInfoLog(program));
  const at = {};
  for (const name of names) at[name] = gl.getUniformLocation(program, name);
  return { program, at };
};

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);

// What the painters read of each solid of a mesh: where it is, and what it looks like.
const FIELDS = { position: [4, 3], rotation: [5, 4], scale: [6, 3], opacity: [7, 1], colour: [2, 3] };
const STRIDE = 14;

const readInstances = (gl, buffer, names) => {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  let offset = 0;
  for (const [name, [location, size]] of Object.entries(FIELDS)) {
    if (names.includes(name)) {
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, gl.FLOAT, false, 4 * STRIDE, 4 * offset);
      gl.vertexAttribDivisor(location, 1);
    }
    offset += size;
  }
};

// Write the fields of a solid into an array; a part of a body goes where its body is.
const writeInstance = (out, at, part, pose, opacity) => {
  let { p, q } = part;
  if (pose) {
    p = add(pose.p, turn(pose.q, part.position));
    q = product(pose.q, part.rotation);
  }
  const { scale, colour } = part;
  out[at] = p[0]; out[at + 1] = p[1]; out[at + 2] = p[2];
  out[at + 3] = q[0]; out[at + 4] = q[1]; out[at + 5] = q[2]; out[at + 6] = q[3];
  out[at + 7] = scale[0]; out[at + 8] = scale[1]; out[at + 9] = scale[2];
  out[at + 10] = opacity;
  out[at + 11] = colour[0]; out[at + 12] = colour[1]; out[at + 13] = colour[2];
};

const solidPainter = (gl, meshes) => {
  const { program, at } = compile(gl, SOLID, ["toScreen", "sun", "floorHeight", "shadow", "eye", "dimmed"]);
  const stored = {};
  const placed = ["position", "rotation", "scale", "opacity"];
  for (const [name, mesh] of Object.entries(meshes)) {
    const array = gl.createVertexArray(), instances = gl.createBuffer();
    gl.bindVertexArray(array);
    const fill = (target, values) => {
      gl.bindBuffer(target, gl.createBuffer());
      gl.bufferData(target, values, gl.STATIC_DRAW);
    };
    const triangles = unpack(mesh.triangles, Uint16Array);
    fill(gl.ARRAY_BUFFER, unpack(mesh.vertices, Float32Array));
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    fill(gl.ARRAY_BUFFER, unpack(mesh.normals, Int8Array));
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 3, gl.BYTE, true, 0, 0);
    fill(gl.ELEMENT_ARRAY_BUFFER, triangles);
    readInstances(gl, instances, [...placed, "colour"]);
    gl.bindVertexArray(null);
    stored[name] = { array, instances, count: triangles.length };
  }
  return {
    begin: (camera, light) => {
      gl.useProgram(program);
      gl.uniformMatrix4fv(at.toScreen, false, camera.toScreen);
      gl.uniform3fv(at.eye, camera.eye);
      gl.uniform3fv(at.sun, light.sun);
      gl.uniform1f(at.floorHeight, light.floorHeight);
      gl.uniform1f(at.shadow, light.shadow);
      gl.uniform1f(at.dimmed, light.dimmed || 1);
    },
    // Keep a surface whose points move, and have colours of their own.
    store: (name, triangles) => {
      const array = gl.createVertexArray(), buffers = [0, 1, 2].map(() => gl.createBuffer());
      const instances = gl.createBuffer();
      gl.bindVertexArray(array);
      buffers.forEach((buffer, k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.enableVertexAttribArray(k);
        gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
      });
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
      readInstances(gl, instances, placed);
      gl.bindVertexArray(null);
      stored[name] = { array, instances, count: triangles.length };
      return ({ vertices, normals, colours }) => [vertices, normals, colours].forEach((values, k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      });
    },
    // The buffer that holds the solids of a mesh, for painting their edges.
    instances: (mesh) => stored[mesh].instances,
    place: (mesh, values) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, stored[mesh].instances);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    },
    paint: (mesh, many) => {
      gl.bindVertexArray(stored[mesh].array);
      gl.drawElementsInstanced(gl.TRIANGLES, stored[mesh].count, gl.UNSIGNED_SHORT, 0, many);
    },
  };
};
