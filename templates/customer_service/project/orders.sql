-- Sample orders, made up. `orders.py` makes orders.sqlite from this file when there is none; use your own database there.
CREATE TABLE orders (
    number TEXT PRIMARY KEY CHECK (number GLOB 'LK-[0-9][0-9][0-9][0-9][0-9]'),
    customer TEXT NOT NULL,
    item TEXT NOT NULL,
    price_pence INTEGER NOT NULL CHECK (price_pence > 0),
    ordered TEXT NOT NULL,
    service TEXT NOT NULL CHECK (service IN ('standard', 'express', 'international')),
    state TEXT NOT NULL CHECK (state IN ('placed', 'packed', 'dispatched', 'delivered', 'returned', 'cancelled', 'lost')),
    dispatched TEXT,
    delivered TEXT,
    tracking TEXT
);

INSERT INTO orders VALUES
('LK-10234', 'A. Moreau', 'L2 Pro monitor', 14900, '2025-02-24', 'express', 'delivered', '2025-02-24', '2025-02-25', 'HX 4410 2291'),
('LK-10235', 'J. Castellan', 'Plug, set of three; hub', 9300, '2025-02-24', 'standard', 'delivered', '2025-02-25', '2025-02-27', 'HX 4410 2310'),
('LK-10236', 'R. Iqbal', 'L1 monitor', 8900, '2025-02-25', 'standard', 'returned', '2025-02-25', '2025-02-28', 'HX 4410 2388'),
('LK-10237', 'S. Lindgren', 'Display', 6900, '2025-02-26', 'international', 'dispatched', '2025-02-27', NULL, 'EU 7719 0042'),
('LK-10238', 'M. Okafor', 'L1 monitor; clamp', 11300, '2025-02-27', 'express', 'dispatched', '2025-02-27', NULL, 'HX 4410 2502'),
('LK-10239', 'D. Petrov', 'Hub', 3900, '2025-02-27', 'standard', 'cancelled', NULL, NULL, NULL),
('LK-10240', 'K. Brandt', 'L2 Pro monitor; installation visit', 25900, '2025-02-28', 'standard', 'packed', NULL, NULL, NULL),
('LK-10241', 'E. Nakamura', 'Clamp', 2400, '2025-02-28', 'standard', 'dispatched', '2025-03-03', NULL, 'HX 4410 2617'),
('LK-10242', 'F. Mensah', 'L1 monitor', 8900, '2025-03-01', 'standard', 'dispatched', '2025-03-03', NULL, 'HX 4410 2633'),
('LK-10243', 'T. Sørensen', 'L2 Pro monitor', 14900, '2025-03-01', 'international', 'dispatched', '2025-03-03', NULL, 'EU 7719 0107'),
('LK-10244', 'O. Ferreira', 'Plug, set of three', 5400, '2025-03-02', 'standard', 'lost', '2025-03-03', NULL, 'HX 4410 2640'),
('LK-10245', 'B. Whitlock', 'Gift card', 5000, '2025-03-03', 'standard', 'delivered', '2025-03-03', '2025-03-03', NULL),
('LK-10246', 'N. Haddad', 'Display; L1 monitor', 15800, '2025-03-03', 'express', 'delivered', '2025-03-03', '2025-03-05', 'HX 4410 2688'),
('LK-10247', 'C. Varga', 'L1 monitor', 8900, '2025-03-04', 'standard', 'placed', NULL, NULL, NULL),
('LK-10248', 'P. Adeleke', 'L2 Pro monitor; clamp', 17300, '2025-03-04', 'express', 'packed', NULL, NULL, NULL);
